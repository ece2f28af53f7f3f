"""`rolecast`, and `python -m rolecast`: the command line, which Ctrl-C ends while it loads, too."""

import sys


def main() -> int:
    """Run the command line of this process; return the exit code."""
    try:
        from rolecast.platform.cli.app import main as run
    except KeyboardInterrupt:  # loading takes up to a second, in which nothing is begun
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())

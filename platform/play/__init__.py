"""A found policy as a page for a browser, where a person can interfere."""

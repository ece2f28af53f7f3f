"""IQL, VDN and QMIX: value learners of teams that choose among a few actions."""

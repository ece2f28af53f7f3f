"""Tasks as environments of PettingZoo, Gymnasium, and Gymnasium's vector interface."""

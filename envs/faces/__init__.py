"""Tasks as other libraries know them: PettingZoo, Gymnasium, Gymnasium's vector environments."""

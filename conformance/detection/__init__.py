"""What damage is detected, measured: files damaged in every likely way, and what each reader says of them."""

"""The deciding half: values in, values out. No I/O, clock, environment, randomness or logging."""

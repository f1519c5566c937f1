"""What a report shows, as values: a session's checkpoints and its transcript in, a page's parts out."""

"""What the ports are in the world: files, a model provider, prompt files."""

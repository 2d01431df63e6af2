"""What each command takes. What it does is imported when it is called, so that start-up stays quick."""

"""How the queues stood over a day, as a picture and on a terminal."""

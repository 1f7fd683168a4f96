"""What people read: the console, feedback pages and the gradebook."""

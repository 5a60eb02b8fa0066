"""The council on a terminal screen (Textual); loaded only when the app opens."""

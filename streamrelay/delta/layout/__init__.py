"""What stands where on a screen: chrome, composer, panels, dialogs; and how its rows moved."""

"""What tests of programs in tmux need: private servers, bounded waiting, scripted participants, an oracle."""

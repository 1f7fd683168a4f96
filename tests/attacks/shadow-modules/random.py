raise SystemExit("a file of the submission hides the installed module")

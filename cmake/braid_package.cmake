# (filled in below the modules)

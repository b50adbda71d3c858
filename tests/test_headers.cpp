// The precompiled headers of the tests are made with this file, which needs nothing of them.

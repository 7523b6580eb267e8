#!/usr/bin/env node
// Committed, because npm links the commands of a workspace before the build writes dist/.
import '../dist/main.js'

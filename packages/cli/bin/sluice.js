#!/usr/bin/env node
// Committed, because npm links the commands of a workspace before the build writes lib/.
import '../lib/main.js'

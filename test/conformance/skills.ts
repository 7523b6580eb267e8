/** The suite's skills: the first one has a directory, and one file is not text. As texts, because workerd has no files. */

import type { Skills } from 'sluice'
import { skills } from 'sluice/skills'

export const skillSet: Skills = skills({
  'code-review/SKILL.md': `---
name: code-review
description: >-
  Reviews a change for bugs before it is merged. Use it when a person asks
  for a review of a diff or a pull request.
license: MIT
allowed-tools: [Read, Grep]
metadata:
  author: sluice
  version: "1.0"
---

# Review a change

Read references/CHECKLIST.md, then run scripts/changed.sh.
`,
  'code-review/references/CHECKLIST.md': '# Checklist\n\n- Errors are handled\n- Tests can fail\n',
  'code-review/scripts/changed.sh': '#!/bin/sh\ngit diff --name-only "$1"\n',
  'code-review/assets/pixel.bin': Uint8Array.of(0xff, 0x00, 0xfe, 0x80),
  'teams/release-notes/SKILL.md': `---
name: release-notes
description: "Writes release notes: one line per change, for people who upgrade."
---

Group the changes by what a person has to do.
`,
})

/** `sluice-fitness`: see `--help`. */

import { runMain } from 'sluice/main'
import { importCommand } from './import-command.ts'
import { open } from './open.ts'
import { description, version } from './package.ts'

await runMain(open, {
  name: 'sluice-fitness',
  version,
  about: description,
  commands: {
    import: {
      usage: ['<files…> [--tenant id]', 'add FIT, GPX and TCX files, ZIPs or folders of them'],
      run: importCommand,
    },
  },
})

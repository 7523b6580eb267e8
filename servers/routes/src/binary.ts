/** `sluice-routes`: see `--help`. */

import { runMain } from 'sluice/main'
import { open } from './index.ts'
import { description, version } from './package.ts'

await runMain(open, { name: 'sluice-routes', version, about: description })

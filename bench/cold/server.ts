/** The module that `sluice serve` starts. */
import { define } from '../contenders/sluice/server.ts'

export default define(1)

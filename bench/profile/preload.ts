/**
 * Loaded into each contender before its program: samples its functions, and writes the profile when it exits.
 * `BENCH_PROFILES` names the folder.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { profileNameOf, sampleUs } from './samples.ts'

const folder = process.env['BENCH_PROFILES']
const [, script] = process.argv
if (folder && script) {
  // Built-in functions count for their callers. A function around them has its name in the profile.
  const { parse: builtInParse, stringify: builtInStringify } = JSON
  JSON.parse = function parse(...args) {
    return builtInParse(...args)
  }
  JSON.stringify = function stringify(...args: Parameters<typeof builtInStringify>) {
    return builtInStringify(...args)
  } as typeof JSON.stringify
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: sampleUs })
  session.post('Profiler.start')
  process.on('exit', () => {
    // The answer comes before `post` returns.
    session.post('Profiler.stop', (error, { profile }) => {
      if (error) throw error
      const path = join(folder, profileNameOf(script))
      writeFileSync(`${path}.part`, JSON.stringify(profile))
      renameSync(`${path}.part`, path)
    })
  })
  // The section ends a stdio contender by a signal, which would skip the handler.
  process.on('SIGTERM', () => process.exit())
}

/**
 * Parses activities from a FIT, GPX or TCX file, recognized by its content, or nights from FIT and JSON. Files are
 * untrusted, so everything is bounded.
 */

import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Activity } from '../activity.ts'
import type { Night } from '../night.ts'
import { readFit, readFitNights } from './fit.ts'
import { readGpx } from './gpx.ts'
import { nightsFromJson } from './sleep.ts'
import { readTcx } from './tcx.ts'
import { UnreadableFile } from './unreadable.ts'

export const maxFileBytes = 64 * 1024 * 1024

/** The content of one file, before it has an id. */
export type ParsedActivity = Omit<Activity, 'id' | 'provider'>

export { UnreadableFile } from './unreadable.ts'

/** The content of one file: activities, or nights. */
export interface FileContent {
  readonly activities: readonly Activity[]
  readonly nights: readonly Night[]
}

/** Reads a file by its content. Sleep comes as FIT or as JSON. */
export function readFileContent(name: string, bytes: Uint8Array): FileContent {
  if (/\.json$/i.test(name)) {
    if (bytes.length > maxFileBytes) throw new UnreadableFile(`${name}: larger than 64 MB`)
    return { activities: [], nights: nightsFromJson(name, Buffer.from(bytes).toString('utf8')) }
  }
  try {
    return { activities: readActivities(name, bytes), nights: [] }
  } catch (thrown) {
    // Most files are activities, so only the others are decoded twice.
    const nights = isFit(bytes) && bytes.length <= maxFileBytes ? readFitNights(name, bytes) : []
    if (nights.length === 0) throw thrown
    return { activities: [], nights }
  }
}

/** One value outside of these would distort every sum, average and training load of the athlete. */
const limits = [
  ['durationS', 31 * 86_400],
  ['distanceM', 50_000_000],
  ['elevationM', 1_000_000],
  ['averageHr', 300],
  ['maxHr', 300],
  ['averagePower', 5000],
  ['calories', 1_000_000],
] as const

export function readActivities(name: string, bytes: Uint8Array): readonly Activity[] {
  if (bytes.length > maxFileBytes) throw new UnreadableFile(`${name}: larger than 64 MB`)
  // Strava exports files that are compressed twice.
  const raw = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzip(name, bytes) : bytes
  const digest = createHash('sha256').update(raw).digest('hex').slice(0, 16)
  return parse(name, raw).map((read, at) => {
    checkValues(name, read)
    return {
      ...read,
      id: at === 0 ? `file-${digest}` : `file-${digest}-${at}`,
      provider: 'files',
      name: (read.name || baseNameOf(name)).toWellFormed().slice(0, 200),
    }
  })
}

function checkValues(name: string, read: ParsedActivity): void {
  if (!(Number.isFinite(read.startedAt) && read.startedAt > 0))
    throw new UnreadableFile(`${name}: it has no start time`)
  const impossible = limits.find(([field, most]) => !((read[field] ?? 0) >= 0 && (read[field] ?? 0) <= most))
  if (impossible) throw new UnreadableFile(`${name}: ${impossible[0]} of ${read[impossible[0]]} is impossible`)
}

const isFit = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(8, 12)).toString('latin1') === '.FIT'

function parse(name: string, bytes: Uint8Array): readonly ParsedActivity[] {
  if (isFit(bytes)) return [readFit(name, bytes)]
  const text = Buffer.from(bytes).toString('utf8')
  const start = text.slice(0, 4096)
  if (/<gpx[\s>]/i.test(start)) return [readGpx(name, text)]
  if (/<TrainingCenterDatabase[\s>]/i.test(start)) return readTcx(name, text)
  throw new UnreadableFile(`${name}: neither FIT nor GPX nor TCX`)
}

function gunzip(name: string, bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxFileBytes })
  } catch {
    throw new UnreadableFile(`${name}: cannot be unpacked, or is larger than 64 MB`)
  }
}

const baseNameOf = (path: string): string =>
  path
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.(fit|gpx|tcx)(\.gz)?$/i, '') ?? path

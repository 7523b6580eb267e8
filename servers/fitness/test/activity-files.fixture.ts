/** Builds files as watches and providers write them. */

import { Encoder, Profile } from '@garmin/fitsdk'
import { zipSync } from 'fflate'

export interface RunSpec {
  readonly start?: string
  readonly metres?: number
  readonly seconds?: number
  readonly name?: string
}

export function fitFile({ start = '2026-03-01T07:00:00Z', metres = 10_000, seconds = 3000 }: RunSpec = {}): Uint8Array {
  // The encoder's types have no message fields.
  const encoder = new Encoder() as unknown as { onMesg(number: number, message: object): void; close(): Uint8Array }
  const startTime = new Date(start)
  const numbers: { readonly [name: string]: number } = Profile.MesgNum
  const number = (name: string): number => numbers[name] ?? 0
  encoder.onMesg(number('FILE_ID'), {
    type: 'activity',
    manufacturer: 'development',
    product: 1,
    timeCreated: startTime,
    serialNumber: 1,
  })
  encoder.onMesg(number('SESSION'), {
    timestamp: new Date(startTime.getTime() + seconds * 1000),
    startTime,
    sport: 'running',
    totalElapsedTime: seconds,
    totalTimerTime: seconds,
    totalDistance: metres,
    totalAscent: 120,
    avgHeartRate: 151,
    maxHeartRate: 172,
    totalCalories: 640,
  })
  return encoder.close()
}

/** A night of one hour each of light, deep, REM and light sleep, and ten minutes awake, with what a watch measured. */
export function sleepFitFile(start = '2026-11-15T22:00:00Z'): Uint8Array {
  const encoder = new Encoder() as unknown as { onMesg(number: number, message: object): void; close(): Uint8Array }
  const numbers: { readonly [name: string]: number } = Profile.MesgNum
  const number = (name: string): number => numbers[name] ?? 0
  const at = (minutes: number): Date => new Date(Date.parse(start) + minutes * 60_000)
  encoder.onMesg(number('FILE_ID'), {
    type: 'activity',
    manufacturer: 'development',
    product: 1,
    timeCreated: at(0),
    serialNumber: 1,
  })
  const levels = [
    [0, 'light'],
    [60, 'deep'],
    [120, 'rem'],
    [180, 'awake'],
    [190, 'light'],
    [250, 'awake'],
  ] as const
  for (const [minutes, sleepLevel] of levels)
    encoder.onMesg(number('SLEEP_LEVEL'), { timestamp: at(minutes), sleepLevel })
  encoder.onMesg(number('SLEEP_ASSESSMENT'), { overallSleepScore: 71 })
  encoder.onMesg(number('HRV_STATUS_SUMMARY'), { timestamp: at(260), lastNightAverage: 62 })
  encoder.onMesg(number('MONITORING_HR_DATA'), {
    timestamp: at(260),
    restingHeartRate: 51,
    currentDayRestingHeartRate: 49,
  })
  return encoder.close()
}

export const gpxFile = ({ start = '2026-03-02T07:00:00Z', name = 'Round the lake' }: RunSpec = {}): string => {
  const at = Date.parse(start)
  const points = Array.from({ length: 11 }, (_, n) => {
    const time = new Date(at + n * 60_000).toISOString()
    return `<trkpt lat="${52 + n * 0.001}" lon="13.4"><ele>${30 + n * 4}</ele><time>${time}</time><extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>${140 + n}</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">
<trk><name>${name}</name><type>running</type><trkseg>${points.join('')}</trkseg></trk></gpx>`
}

export const tcxFile = ({ start = '2026-03-03T07:00:00Z', metres = 20_000, seconds = 3600 }: RunSpec = {}): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities><Activity Sport="Biking"><Id>${start}</Id>
<Lap StartTime="${start}"><TotalTimeSeconds>${seconds}</TotalTimeSeconds><DistanceMeters>${metres}</DistanceMeters><Calories>500</Calories>
<AverageHeartRateBpm><Value>138</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>160</Value></MaximumHeartRateBpm></Lap></Activity></Activities></TrainingCenterDatabase>`

export const zipOf = (files: { readonly [name: string]: Uint8Array | string }): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => [
        name,
        typeof content === 'string' ? new TextEncoder().encode(content) : content,
      ]),
    ),
  )

export const base64 = (content: Uint8Array | string): string => Buffer.from(content as Uint8Array).toString('base64')

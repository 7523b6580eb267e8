/** Local doubles of the two routing services, with the JSON of their documentation, including failures. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Double {
  readonly url: string
  /** The requests in order: path and query. */
  readonly requests: URL[]
  /** The next answers; by default the double answers correctly. */
  readonly faults: Fault[]
  close(): Promise<void>
}
/** `hang` keeps the connection open without an answer; `cut` closes it in the middle of the body. */
export type Fault =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | 'hang'
  | 'cut'

async function listen(answer: (url: URL) => unknown): Promise<Double> {
  const asked: URL[] = []
  const faults: Fault[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://double')
    asked.push(url)
    const fault = faults.shift()
    if (fault === 'hang') return
    if (fault === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
      response.write('{"code":')
      setImmediate(() => response.destroy())
      return
    }
    response.writeHead(fault?.status ?? 200, { 'content-type': 'application/json', ...fault?.headers })
    response.end(JSON.stringify(fault ? (fault.body ?? {}) : answer(url)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: asked,
    faults,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** https://project-osrm.org/docs/v5.24.0/api/#route-service */
export const osrmDouble = (): Promise<Double> =>
  listen(() => ({
    code: 'Ok',
    routes: [
      {
        distance: 101_500.4,
        duration: 5_460.2,
        weight_name: 'routability',
        weight: 5_460.2,
        geometry: {
          type: 'LineString',
          coordinates: [
            [107.5955, 16.4619],
            [108.221, 16.068],
          ],
        },
        legs: [
          {
            summary: 'QL1',
            distance: 101_500.4,
            duration: 5_460.2,
            steps: [
              {
                distance: 100_000.4,
                duration: 5_400.2,
                name: 'Quốc lộ 1',
                ref: 'QL1',
                mode: 'driving',
                maneuver: { type: 'depart', location: [107.5955, 16.4619], bearing_after: 120, bearing_before: 0 },
              },
              {
                distance: 1_500,
                duration: 60,
                name: 'Bạch Đằng',
                mode: 'driving',
                maneuver: { type: 'turn', modifier: 'left', location: [108.2, 16.07] },
              },
              {
                distance: 0,
                duration: 0,
                name: 'Bạch Đằng',
                mode: 'driving',
                maneuver: { type: 'arrive', location: [108.221, 16.068] },
              },
            ],
          },
        ],
      },
    ],
    waypoints: [
      { name: 'Huế', location: [107.5955, 16.4619], hint: '' },
      { name: 'Đà Nẵng', location: [108.221, 16.068], hint: '' },
    ],
  }))

/** https://developer.tomtom.com/routing-api/documentation/tomtom-maps/calculate-route and …/search-api/…/geocode */
export const tomtomDouble = (): Promise<Double> =>
  listen((url) => (url.pathname.startsWith('/search/') ? tomtomPlaces(url) : tomtomRoute))

const tomtomRoute = {
  formatVersion: '0.0.12',
  routes: [
    {
      summary: {
        lengthInMeters: 101_500,
        travelTimeInSeconds: 6_000,
        trafficDelayInSeconds: 540,
        trafficLengthInMeters: 2_000,
        departureTime: '2026-11-16T08:00:00+07:00',
        arrivalTime: '2026-11-16T09:40:00+07:00',
      },
      legs: [
        {
          summary: { lengthInMeters: 101_500, travelTimeInSeconds: 6_000 },
          points: [
            { latitude: 16.4619, longitude: 107.5955 },
            { latitude: 16.2, longitude: 108.05 },
            { latitude: 16.068, longitude: 108.221 },
          ],
        },
      ],
      sections: [
        { startPointIndex: 0, endPointIndex: 2, sectionType: 'TRAVEL_MODE', travelMode: 'car' },
        {
          startPointIndex: 1,
          endPointIndex: 2,
          sectionType: 'TRAFFIC',
          simpleCategory: 'JAM',
          effectiveSpeedInKmh: 22,
          delayInSeconds: 540,
          magnitudeOfDelay: 2,
        },
      ],
      guidance: {
        instructions: [
          {
            routeOffsetInMeters: 0,
            travelTimeInSeconds: 0,
            instructionType: 'LOCATION_DEPARTURE',
            message: 'Leave from Huế',
          },
          { routeOffsetInMeters: 100_000, travelTimeInSeconds: 5_700, instructionType: 'TURN', message: 'Turn left' },
          {
            routeOffsetInMeters: 101_500,
            travelTimeInSeconds: 6_000,
            instructionType: 'LOCATION_ARRIVAL',
            message: 'Arrive',
          },
        ],
      },
    },
  ],
}

function tomtomPlaces(url: URL): unknown {
  const query = decodeURIComponent(
    url.pathname
      .split('/')
      .at(-1)
      ?.replace(/\.json$/, '') ?? '',
  )
  const results =
    query === 'nowhere'
      ? []
      : [
          {
            type: 'Geography',
            id: 'VN/GEO/p0/1',
            score: 2.4,
            address: { municipality: query, countryCode: 'VN', freeformAddress: `${query}, Việt Nam` },
            position: query.startsWith('Hu') ? { lat: 16.4619, lon: 107.5955 } : { lat: 16.068, lon: 108.221 },
          },
        ]
  return { summary: { query, queryType: 'NON_NEAR', numResults: results.length }, results }
}

/**
 * Crossings of the sea that a line over land cannot find: well-known bridges, tunnels and car ferries, and one road
 * without towns. Other islands have no road here, and the answer says so.
 */

import type { Point } from '../route.ts'

export interface Link {
  readonly name: string
  readonly kind: 'road' | 'bridge' | 'tunnel' | 'ferry'
  readonly ends: readonly [Point, Point]
}

const link = (kind: Link['kind'], name: string, a: readonly [number, number], b: readonly [number, number]): Link => ({
  name,
  kind,
  ends: [
    { lat: a[0], lon: a[1] },
    { lat: b[0], lon: b[1] },
  ],
})

export const links: readonly Link[] = [
  link('road', 'Eyre Highway', [-30.75, 121.47], [-32.13, 133.67]),
  link('tunnel', 'Channel Tunnel', [50.92, 1.81], [51.09, 1.12]),
  link('bridge', 'Øresund Bridge', [55.62, 12.6], [55.57, 12.95]),
  link('bridge', 'Great Belt Bridge', [55.32, 10.85], [55.35, 11.1]),
  link('bridge', 'Confederation Bridge', [46.2, -63.75], [46.25, -63.7]),
  link('bridge', 'King Fahd Causeway', [26.2, 50.2], [26.18, 50.45]),
  link('bridge', 'Hong Kong–Zhuhai–Macau Bridge', [22.28, 113.95], [22.21, 113.58]),
  link('bridge', 'Kanmon Bridge', [33.95, 130.94], [33.96, 130.97]),
  link('bridge', 'Akashi Kaikyō Bridge', [34.64, 135.04], [34.55, 135.0]),
  link('bridge', 'Ōnaruto Bridge', [34.25, 134.68], [34.2, 134.6]),
  link('bridge', 'Great Seto Bridge', [34.46, 133.81], [34.33, 133.82]),
  link('ferry', 'Dover–Calais', [50.97, 1.85], [51.13, 1.32]),
  link('ferry', 'Holyhead–Dublin', [53.31, -4.63], [53.35, -6.2]),
  link('ferry', 'Cairnryan–Belfast', [54.97, -5.02], [54.62, -5.9]),
  link('ferry', 'Messina–Villa San Giovanni', [38.19, 15.56], [38.22, 15.64]),
  link('ferry', 'Livorno–Bastia', [43.55, 10.3], [42.7, 9.45]),
  link('ferry', 'Civitavecchia–Olbia', [42.09, 11.79], [40.92, 9.52]),
  link('ferry', 'Bari–Igoumenitsa', [41.13, 16.86], [39.5, 20.26]),
  link('ferry', 'Piraeus–Heraklion', [37.94, 23.63], [35.34, 25.14]),
  link('ferry', 'Barcelona–Palma', [41.35, 2.16], [39.56, 2.63]),
  link('ferry', 'Algeciras–Tangier', [36.13, -5.44], [35.88, -5.5]),
  link('ferry', 'Catania–Valletta', [37.5, 15.09], [35.89, 14.51]),
  link('ferry', 'Rostock–Trelleborg', [54.15, 12.1], [55.37, 13.15]),
  link('ferry', 'Helsinki–Tallinn', [60.16, 24.96], [59.44, 24.75]),
  link('ferry', 'Stockholm–Turku', [59.33, 18.1], [60.43, 22.22]),
  link('ferry', 'Hirtshals–Kristiansand', [57.59, 9.96], [58.14, 8.0]),
  link('ferry', 'Gotland ferry', [58.9, 17.95], [57.63, 18.28]),
  link('ferry', 'Aomori–Hakodate', [40.83, 140.72], [41.79, 140.72]),
  link('ferry', 'Busan–Fukuoka', [35.1, 129.04], [33.6, 130.4]),
  link('ferry', 'Merak–Bakauheni', [-5.93, 106.0], [-5.87, 105.75]),
  link('ferry', 'Ketapang–Gilimanuk', [-8.14, 114.4], [-8.16, 114.44]),
  link('ferry', 'Padang Bai–Lembar', [-8.53, 115.51], [-8.73, 116.07]),
  link('ferry', 'Xuwen–Haikou', [20.28, 110.14], [20.05, 110.25]),
  link('ferry', 'Wellington–Picton', [-41.27, 174.78], [-41.28, 174.0]),
  link('ferry', 'Melbourne–Devonport', [-38.15, 144.36], [-41.18, 146.36]),
  link('ferry', 'Vancouver–Vancouver Island', [49.0, -123.13], [48.69, -123.41]),
  link('ferry', 'Nova Scotia–Newfoundland', [46.21, -60.25], [47.57, -59.14]),
]

/** Borders over land that no road crosses. */
export const closedBorders: ReadonlySet<string> = new Set([
  ...['CO-PA', 'KP-KR', 'AF-CN', 'BT-CN', 'CN-IN', 'ID-PG', 'DZ-MA', 'AM-AZ', 'AM-TR', 'IL-LB', 'IL-SY'],
])

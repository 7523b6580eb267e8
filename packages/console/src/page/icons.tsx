/** The icons, drawn inline so that nothing is fetched. They have the colour of the text around them. */

import type { JSX } from 'preact'

const icon =
  (...paths: readonly string[]) =>
  (): JSX.Element => (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {paths.map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  )

export const Approvals = icon(
  'M12 3l7 3v5.500c0 4.3-2.9 7.8-7 9.5-4.1-1.7-7-5.2-7-9.500V6z',
  'M8.8 12.200l2.3 2.3 4.3-4.7',
)
export const Live = icon('M3 12h3.500l2.5-7 4.5 14 2.8-7H21')
export const Tools = icon('M5 4h14v6H5z', 'M5 14h14v6H5z', 'M8.5 7h.01', 'M8.5 17h.01')
export const Tenants = icon(
  'M15 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0z',
  'M3.5 20c.8-3.7 3.7-5.5 7.5-5.500s6.7 1.8 7.5 5.5',
  'M17.5 5.200a3.5 3.5 0 0 1 0 5.8',
  'M19 15.300c1.2.9 2 2.4 2.3 4.7',
)
export const Audit = icon('M6 3h9l4 4v14H6z', 'M14.5 3v4.500H19', 'M9 12h7', 'M9 16h7')
export const Upstreams = icon(
  'M4 5h6v5H4z',
  'M4 14h6v5H4z',
  'M10 7.500h4v9h-4',
  'M14 12h6',
  'M17.5 9.500L20 12l-2.5 2.5',
)
export const Access = icon('M8 14a4 4 0 1 1 3.8-2.800L20 19.400V21h-3v-2h-2v-2h-2l-1.700-1.700', 'M7.5 9.500h.01')
export const Clients = icon('M9 4v5', 'M15 4v5', 'M6.5 9h11v3.500a5.5 5.5 0 0 1-11 0z', 'M12 18v3')
export const Sun = icon(
  'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  'M12 2.500v2',
  'M12 19.500v2',
  'M2.5 12h2',
  'M19.5 12h2',
  'M5.3 5.300l1.4 1.4',
  'M17.3 17.300l1.4 1.4',
  'M5.3 18.700l1.4-1.4',
  'M17.3 6.700l1.4-1.4',
)
export const Bell = icon('M6 16.500V11a6 6 0 0 1 12 0v5.500l1.500 2h-15z', 'M10 21h4')
export const BellOff = icon(
  'M6 16.500V11a6 6 0 0 1 9.500-4.800',
  'M18 11v5.500l1.500 2h-15l1.500-2',
  'M10 21h4',
  'M4 3l16 18',
)
export const Moon = icon('M20 14.500A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.500z')
export const System = icon('M3.5 5h17v11h-17z', 'M9 20h6', 'M12 16v4')
export const Back = icon('M14.5 5.500L8 12l6.5 6.5')
export const SignOut = icon('M14 4H6v16h8', 'M11 12h9.5', 'M17 8.500l3.5 3.5-3.5 3.5')

export const Brand = (): JSX.Element => (
  <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M9 7v11m14-11v11M9 11h14M12 11v7m4-7v7m4-7v7" />
    <path class="water" d="M6 23.500c2.2-2 4.4-2 6.7 0s4.4 2 6.6 0 4.5-2 6.7 0" />
  </svg>
)

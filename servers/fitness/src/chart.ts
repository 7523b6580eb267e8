/** Draws the training load as an SVG: fitness, fatigue and form over time. */

import type { Day } from './training.ts'

const [width, height, left, right, top, bottom] = [720, 360, 48, 24, 40, 32]

export function loadChart(days: readonly Day[], title: string): string {
  const values = days.flatMap(({ ctl, atl, tsb }) => [ctl, atl, tsb])
  const high = Math.max(10, ...values)
  const low = Math.min(0, ...values)
  const x = (at: number): number => left + (at / Math.max(1, days.length - 1)) * (width - left - right)
  const y = (value: number): number => top + ((high - value) / (high - low)) * (height - top - bottom)
  const line = (of: (day: Day) => number): string =>
    days.map((day, at) => `${x(at).toFixed(1)},${y(of(day)).toFixed(1)}`).join(' ')
  const step = [5, 10, 20, 25, 50, 100, 200].find((each) => (high - low) / each <= 6) ?? 500
  const ticks = Array.from({ length: 30 }, (_, at) => Math.ceil(low / step) * step + at * step).filter(
    (tick) => tick <= high,
  )
  const dates = datesOf(days)
  const every = Math.max(1, Math.ceil(dates.length / 7))
  const legend = [
    ['ctl', 'Fitness (CTL)'],
    ['atl', 'Fatigue (ATL)'],
    ['tsb', 'Form (TSB)'],
  ] as const
  const last = days.at(-1)
  const today = last ? (['tsb', 'atl', 'ctl'] as const).map((kind) => [kind, last[kind]] as const) : []
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>
  rect{fill:#fff}text{font:12px system-ui,sans-serif;fill:#475569}.title{font-weight:600;font-size:14px;fill:#0f172a}
  .grid{stroke:#e2e8f0}.zero{stroke:#94a3b8}polyline{fill:none;stroke-width:2;stroke-linejoin:round}
  .ctl{stroke:#2563eb}.atl{stroke:#db2777}.tsb{stroke:#d97706;stroke-dasharray:4 3}
  circle{fill:#fff;stroke-width:2}circle.tsb{stroke-dasharray:none}
</style>
<rect width="${width}" height="${height}"/>
<text class="title" x="${left}" y="22">${escape(title)}</text>
${legend.map(([kind, name], at) => `<path class="${kind}" stroke-width="3" d="M${width - 340 + at * 112} 18h16"/><text x="${width - 320 + at * 112}" y="22">${name}</text>`).join('\n')}
${ticks.map((tick) => `<path class="${tick === 0 ? 'zero' : 'grid'}" d="M${left} ${y(tick).toFixed(1)}H${width - right}"/><text x="${left - 8}" y="${(y(tick) + 4).toFixed(1)}" text-anchor="end">${String(tick).replace('-', '−')}</text>`).join('\n')}
${dates
  .filter((_, at) => at % every === 0)
  .map(
    ({ at, label }) => `<text x="${labelX(x(at)).toFixed(1)}" y="${height - 10}" text-anchor="middle">${label}</text>`,
  )
  .join('\n')}
<polyline class="tsb" points="${line(({ tsb }) => tsb)}"/>
<polyline class="atl" points="${line(({ atl }) => atl)}"/>
<polyline class="ctl" points="${line(({ ctl }) => ctl)}"/>
${today.map(([kind, value]) => `<circle class="${kind}" cx="${x(days.length - 1).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3.5"/>`).join('\n')}
${values.every((value) => value === 0) ? `<text x="${(left + width - right) / 2}" y="${(top + height - bottom) / 2 - 12}" text-anchor="middle">No activities yet</text>\n` : ''}</svg>`
}

/** A label of seven digits is about 48 pixels wide, and must not leave the picture on either side. */
const labelX = (x: number): number => Math.max(28, Math.min(width - 28, x))

/** Returns month labels, or day labels for a short range. */
function datesOf(days: readonly Day[]): readonly { readonly at: number; readonly label: string }[] {
  if (days.length <= 62) return days.map(({ day }, at) => ({ at, label: day.slice(5) }))
  return days.flatMap(({ day }, at) => (day.endsWith('-01') ? [{ at, label: day.slice(0, 7) }] : []))
}

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (each) => `&#${each.codePointAt(0)};`).replace(/\p{Cc}/gu, ' ')

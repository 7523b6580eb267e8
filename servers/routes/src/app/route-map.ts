/** The map of a planned route as an app: the client shows it beside the answer. It is drawn in the page, without network. */

import type { ToolPage } from 'sluice/apps'
import { app, appPage } from 'sluice/apps'
import { script } from './route-map-script.ts'

const style = `
main { display: grid; gap: 12px }
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline }
h1 { font-size: 16px; margin: 0; flex: 1 1 auto }
#summary { color: var(--soft) }
nav { display: flex; flex-wrap: wrap; gap: 6px }
button { font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px; cursor: pointer }
button[aria-pressed=true] { border-color: var(--route); box-shadow: inset 0 0 0 1px var(--route) }
:root { --route: light-dark(#2563eb, #60a5fa); --map: light-dark(#f4f1ea, #172033); --grid: light-dark(#e2ddd0, #243049) }
svg { width: 100%; height: auto; display: block; background: var(--map); border-radius: 10px }
.grid { stroke: var(--grid) } polyline { fill: none; stroke-linejoin: round; stroke-linecap: round }
.case { stroke: var(--map); stroke-width: 9 } .best { stroke: var(--route); stroke-width: 5 }
.other { stroke: light-dark(#94a3b8, #64748b); stroke-width: 4; stroke-dasharray: 1 8 }
circle { stroke: var(--map); stroke-width: 3 } .start { fill: light-dark(#15803d, #4ade80) }
.stop { fill: light-dark(#64748b, #94a3b8) } .end { fill: light-dark(#b91c1c, #f87171) }
svg text { font-weight: 600; font-size: 15px; fill: var(--ink); paint-order: stroke; stroke: var(--map); stroke-width: 4px }
svg .note { font-weight: 400; font-size: 12px; fill: var(--soft) } .scale { stroke: var(--soft); stroke-width: 2; fill: none }
details { border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px } summary { cursor: pointer }
ol { margin: 8px 0 0; padding-left: 28px; max-height: 240px; overflow: auto } li span { color: var(--soft); margin-left: 6px }
#note { color: var(--soft); margin: 0 } #problem { margin: 0; white-space: pre-wrap }
`
const body = `<main>
<p id="problem" role="alert" hidden></p>
<header><h1 id="title">Planning the route…</h1><span id="summary"></span></header>
<nav id="choices" aria-label="Routes" hidden></nav>
<svg id="map" viewBox="0 0 640 440" role="img" hidden></svg>
<p id="note" hidden></p>
<details id="steps" hidden><summary></summary><ol></ol></details>
</main>`

export const routeMap: ToolPage = app({
  uri: 'ui://routes/map',
  name: 'route-map',
  title: 'Route map',
  description: 'A planned route on a map, with its alternatives and steps.',
  html: appPage({ title: 'Route map', style, body, script }),
  prefersBorder: true,
})

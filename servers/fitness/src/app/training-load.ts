/** The training load as an app: fitness, fatigue and form as a chart that people can point at. No network. */

import type { ToolPage } from 'sluice/apps'
import { app, appPage } from 'sluice/apps'
import { script } from './training-load-script.ts'

const style = `
main { display: grid; gap: 12px }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; justify-content: space-between }
h1 { font-size: 16px; margin: 0 }
nav { display: flex; gap: 6px }
button { font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px; cursor: pointer }
button[aria-pressed=true] { border-color: var(--ctl); box-shadow: inset 0 0 0 1px var(--ctl) } button:disabled { opacity: .6 }
:root { --ctl: light-dark(#2563eb, #60a5fa); --atl: light-dark(#be185d, #f472b6); --tsb: light-dark(#b45309, #fbbf24) }
dl { display: flex; flex-wrap: wrap; gap: 8px 24px; margin: 0 } dl div { display: flex; gap: 8px; align-items: baseline }
dt { color: var(--soft) } dt::before { content: ''; display: inline-block; width: 14px; height: 3px; margin-right: 6px; vertical-align: middle; background: var(--kind) }
dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums }
[data-kind=ctl] { --kind: var(--ctl) } [data-kind=atl] { --kind: var(--atl) } [data-kind=tsb] { --kind: var(--tsb) } [data-kind=stress] { --kind: var(--line) }
svg { width: 100%; height: auto; display: block; touch-action: pan-y }
svg text { font-size: 12px; fill: var(--soft) } .grid { stroke: var(--line) } .zero { stroke: var(--soft) }
polyline { fill: none; stroke-width: 2; stroke-linejoin: round } .bar { fill: var(--line) }
.ctl { stroke: var(--ctl) } .atl { stroke: var(--atl) } .tsb { stroke: var(--tsb); stroke-dasharray: 4 3 } .cursor { stroke: var(--soft) }
#meaning, #note { margin: 0 } #note { color: var(--soft) } #problem { margin: 0; white-space: pre-wrap }
`
const body = `<main>
<p id="problem" role="alert" hidden></p>
<header><h1 id="title">Training load</h1><nav id="ranges" aria-label="Range"></nav></header>
<dl id="values" aria-live="polite"></dl>
<svg id="chart" viewBox="0 0 720 320" role="img" aria-label="Fitness, fatigue and form over time" hidden></svg>
<p id="meaning" hidden></p>
<p id="note" hidden></p>
</main>`

export const trainingLoad: ToolPage = app({
  uri: 'ui://fitness/training-load',
  name: 'training-load-app',
  title: 'Training load',
  description: 'Fitness, fatigue and form as a chart.',
  html: appPage({ title: 'Training load', style, body, script }),
  prefersBorder: true,
})

/** A plot over time, drawn on a canvas. The tiles beside it give the same information as text. */

import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Line {
  readonly label: string
  /** A custom property of the page's style: `--accent`. */
  readonly colour: string
  /** Draws a bar for each second, so that a single call is as visible as many. */
  readonly bars?: boolean
}

export interface PlotProps {
  readonly title: string
  readonly lines: readonly Line[]
  /** Seconds, then one list of values for each line. */
  readonly data: readonly (readonly (number | null)[])[]
  readonly unit: (value: number) => string
  /** Whether the values are whole numbers. */
  readonly whole?: boolean
  /** Labels the time without seconds. */
  readonly isLong?: boolean
}

const height = 168

export function Plot({ title, lines, data, unit, whole = false, isLong = false }: PlotProps): JSX.Element {
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const latest = useRef(data)
  latest.current = data

  // Created once, because lines and unit never change.
  useEffect(() => {
    const box = container.current
    if (!box) return undefined
    const draw = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsFor({ lines, unit, whole, isLong }, box.clientWidth), toData(latest.current), box)
    }
    draw()
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: box.clientWidth, height }))
    sized.observe(box)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    addEventListener('themechange', draw)
    dark.addEventListener('change', draw)
    return () => {
      sized.disconnect()
      removeEventListener('themechange', draw)
      dark.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [])
  useEffect(() => plot.current?.setData(toData(data)), [data])

  return (
    <figure class="plot" aria-label={title}>
      <figcaption>
        <span>{title}</span>
        {lines.map(({ label, colour }) => (
          <span key={label} class="legend">
            <svg viewBox="0 0 10 10" aria-hidden="true" style={{ color: `var(${colour})` }}>
              <rect y="3.5" width="10" height="3" rx="1.5" />
            </svg>
            {label}
          </span>
        ))}
      </figcaption>
      <div ref={container} aria-hidden="true" />
    </figure>
  )
}

const toData = (data: PlotProps['data']): uPlot.AlignedData => data.map((each) => [...each]) as uPlot.AlignedData

/** Reads the colours from the page for each drawing, because a canvas does not follow custom properties. */
function optionsFor(
  { lines, unit, whole, isLong }: Required<Pick<PlotProps, 'lines' | 'unit' | 'whole' | 'isLong'>>,
  width: number,
): uPlot.Options {
  const style = getComputedStyle(document.body)
  const colourOf = (name: string): string => resolved(style, name)
  const axis = {
    stroke: colourOf('--dim'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 24, 0, 0],
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] } },
    axes: [
      {
        ...axis,
        size: 26,
        space: 70,
        values: (_, marks) => marks.map((mark) => minuteOf(mark).slice(0, isLong ? 5 : 8)),
        grid: { show: false },
      },
      {
        ...axis,
        size: 54,
        space: 34,
        values: (_, marks) => marks.map((mark) => (mark === 0 ? '0' : unit(mark))),
        ...(whole && { incrs: wholeSteps }),
      },
    ],
    series: [
      {},
      ...lines.map(
        ({ label, colour, bars }): uPlot.Series => ({
          label,
          stroke: colourOf(colour),
          width: bars ? 0 : 1.5,
          spanGaps: false,
          // A second without calls has no latency, so a single second between two such has no line.
          points: bars ? { show: false } : { show: true, size: 5, fill: colourOf(colour), filter: lonePoints },
          ...(bars && barPaths && { fill: colourOf(colour), paths: barPaths }),
        }),
      ),
    ],
  }
}

const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000]
/** Bars as wide as their second, and at least two pixels. */
const barPaths = uPlot.paths.bars?.({ size: [1, 8, 2], align: 0 })

/** Returns the points that no line reaches, because they have no neighbour. */
const lonePoints: uPlot.Series.Points.Filter = (plot, series) => {
  const values = plot.data[series] ?? []
  const isAbsent = (at: number): boolean => values[at] === undefined || values[at] === null
  return [...values.keys()].filter((at) => !isAbsent(at) && isAbsent(at - 1) && isAbsent(at + 1))
}

/** Resolves a colour through a probe element, because `light-dark(…)` is computed only where a property uses it. */
function resolved(style: CSSStyleDeclaration, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = style.getPropertyValue(name)
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const minuteOf = (seconds: number): string => {
  const at = new Date(seconds * 1000)
  return `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}:${String(at.getSeconds()).padStart(2, '0')}`
}

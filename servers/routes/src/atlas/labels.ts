/** Places the labels of a map beside their points, where they cover the least of lines and of each other. */

export type MapPoint = readonly [x: number, y: number]

export interface Label {
  readonly x: number
  readonly y: number
  readonly anchor: 'start' | 'middle' | 'end'
}

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Estimated pixels of a letter, a line and the gap to the point, because no font can be measured here. */
const [letter, tall, gap] = [8.6, 18, 12]
const sampleDistance = 4

/** Right, left, above, below and the corners; the first of equal candidates wins. */
const candidateOffsets = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, -1],
  [1, 1],
  [-1, -1],
  [-1, 1],
] as const

interface LabelPoint {
  readonly at: MapPoint
  readonly text: string
}
interface Size {
  readonly width: number
  readonly height: number
}

export interface Labels {
  /** One per point, in order. */
  readonly labels: readonly Label[]
  /** One per optional point, in order; `undefined` if it would cover something. */
  readonly optional: readonly (Label | undefined)[]
}

/** The scale and the length of the route are below. */
const footer = 48
/** The letters of a town are smaller. */
const optionalScale = 0.75

/** `lines` are in pixels, `size` is that of the whole map. */
export function placeLabels(
  points: readonly LabelPoint[],
  lines: readonly (readonly MapPoint[])[],
  size: Size,
  optional: readonly LabelPoint[] = [],
): Labels {
  const inked = occupiedCells(lines)
  const taken: Box[] = points.map(({ at: [x, y] }) => ({ left: x - 9, top: y - 9, right: x + 9, bottom: y + 9 }))
  const labels = points.map((point) => {
    const candidates = candidatesOf(point, 1).map((candidate) => {
      const hidden = countOccupied(inked, candidate.box)
      const outside = isOutside(candidate.box, size) ? 1000 : 0
      return {
        ...candidate,
        cost: hidden + outside + 50 * taken.filter((other) => overlap(candidate.box, other)).length,
      }
    })
    const best = candidates.reduce((min, each) => (each.cost < min.cost ? each : min))
    taken.push(best.box)
    return best.label
  })
  const towns = optional.map((point) => {
    const [x, y] = point.at
    const dot: Box = { left: x - 3, top: y - 3, right: x + 3, bottom: y + 3 }
    const free = candidatesOf(point, optionalScale).find(
      ({ box }) =>
        !isOutside(box, size) &&
        countOccupied(inked, box) === 0 &&
        !taken.some((other) => overlap(box, other) || overlap(dot, other)),
    )
    if (free) taken.push(free.box, dot)
    return free?.label
  })
  return { labels, optional: towns }
}

function candidatesOf(
  { at: [x, y], text }: LabelPoint,
  scale: number,
): readonly { readonly box: Box; readonly label: Label }[] {
  const [wide, high, space] = [[...text].length * letter * scale, tall * scale, gap * scale * scale]
  return candidateOffsets.map(([across, down]) => {
    const near = across !== 0 && down !== 0 ? space * 0.6 : space
    const left = across > 0 ? x + near : across < 0 ? x - near - wide : x - wide / 2
    const top = down > 0 ? y + near : down < 0 ? y - near - high : y - high / 2
    return {
      box: { left, top, right: left + wide, bottom: top + high },
      label: {
        x: across === 0 ? x : across > 0 ? left : left + wide,
        y: top + high * 0.76,
        anchor: across === 0 ? 'middle' : across > 0 ? 'start' : 'end',
      },
    }
  })
}

const isOutside = ({ left, top, right, bottom }: Box, { width, height }: Size): boolean =>
  left < 4 || top < 4 || right > width - 4 || bottom > height - footer

/**
 * Rasterizes lines to cells of some pixels: a route of many turns marks a cell once, and a label checks only its own
 * cells.
 */
const cell = 4
const cells = 256

function occupiedCells(lines: readonly (readonly MapPoint[])[]): Uint8Array {
  const inked = new Uint8Array(cells * cells)
  const ink = (x: number, y: number): void => {
    const [column, row] = [Math.floor(x / cell), Math.floor(y / cell)]
    if (column >= 0 && column < cells && row >= 0 && row < cells) inked[row * cells + column] = 1
  }
  for (const line of lines) {
    let [fromX, fromY] = line[0] ?? [0, 0]
    if (line[0]) ink(fromX, fromY)
    for (const [x, y] of line) {
      const steps = Math.floor(Math.hypot(x - fromX, y - fromY) / sampleDistance)
      for (let step = 1; step <= steps; step++)
        ink(fromX + ((x - fromX) * step) / steps, fromY + ((y - fromY) * step) / steps)
      if (steps > 0) [fromX, fromY] = [x, y]
    }
  }
  return inked
}

function countOccupied(inked: Uint8Array, { left, top, right, bottom }: Box): number {
  const within = (value: number): number => Math.max(0, Math.min(cells - 1, Math.floor(value / cell)))
  let count = 0
  for (let row = within(top); row <= within(bottom); row++)
    for (let column = within(left - 3); column <= within(right + 3); column++) count += inked[row * cells + column] ?? 0
  return count
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

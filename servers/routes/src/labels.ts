/** Where the names of places go on a map: beside their point, where they hide the least of lines and of each other. */

export type Spot = readonly [x: number, y: number]

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

/** Of a letter, a line and the gap to the point, in pixels: no font can be measured here. */
const [letter, tall, gap] = [8.6, 18, 12]
const apart = 4

/** Right, left, above, below, and the corners between; the first of equals is taken. */
const around = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, -1],
  [1, 1],
  [-1, -1],
  [-1, 1],
] as const

/** One for each point, in their order. `lines` in pixels, `size` of the whole picture. */
export function placeLabels(
  points: readonly { readonly at: Spot; readonly text: string }[],
  lines: readonly (readonly Spot[])[],
  size: { readonly width: number; readonly height: number },
): readonly Label[] {
  const inked = lines.flatMap(dotted)
  const taken: Box[] = points.map(({ at: [x, y] }) => ({ left: x - 9, top: y - 9, right: x + 9, bottom: y + 9 }))
  return points.map(({ at: [x, y], text }) => {
    const candidates = around.map(([across, down]) => {
      const wide = [...text].length * letter
      const near = across !== 0 && down !== 0 ? gap * 0.6 : gap
      const left = across > 0 ? x + near : across < 0 ? x - near - wide : x - wide / 2
      const top = down > 0 ? y + near : down < 0 ? y - near - tall : y - tall / 2
      const box: Box = { left, top, right: left + wide, bottom: top + tall }
      const label: Label = {
        x: across === 0 ? x : across > 0 ? left : left + wide,
        y: top + tall * 0.76,
        anchor: across === 0 ? 'middle' : across > 0 ? 'start' : 'end',
      }
      const hidden = inked.filter((spot) => isIn(spot, box)).length
      const outside = left < 4 || top < 4 || box.right > size.width - 4 || box.bottom > size.height - 40 ? 1000 : 0
      return { box, label, cost: hidden + outside + 50 * taken.filter((other) => overlap(box, other)).length }
    })
    const best = candidates.reduce((least, each) => (each.cost < least.cost ? each : least))
    taken.push(best.box)
    return best.label
  })
}

/** A line as points some pixels apart, however many it has itself. */
function dotted(line: readonly Spot[]): readonly Spot[] {
  const dots: Spot[] = line.slice(0, 1)
  for (const [x, y] of line) {
    const [fromX, fromY] = dots.at(-1) ?? [x, y]
    const steps = Math.floor(Math.hypot(x - fromX, y - fromY) / apart)
    for (let step = 1; step <= steps; step++)
      dots.push([fromX + ((x - fromX) * step) / steps, fromY + ((y - fromY) * step) / steps])
  }
  return dots
}

const isIn = ([x, y]: Spot, { left, top, right, bottom }: Box): boolean =>
  x > left - 3 && x < right + 3 && y > top && y < bottom
const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/**
 * Writes numbers in the text format 0.0.4 of Prometheus, in a stable order.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export type Labels = readonly (readonly [name: string, value: string])[]

export interface MetricSample {
  /** Added to the family's name: `_bucket`, `_sum`, `_count`, or empty. */
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly MetricSample[]
}

/** Formats metric families. Every sample gets the `common` labels. */
export const toPrometheus = (families: readonly MetricFamily[], common: Labels = []): string =>
  families
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ suffix = '', labels, value }) => `${name}${suffix}${braced([...common, ...labels])} ${numeral(value)}\n`,
      )
      return `# HELP ${name} ${help.replace(/[\\\n]/g, escape)}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')

/**
 * Joins pages whose samples have different labels. Each family may have only one head, with all of its samples below.
 */
export function joinPrometheus(pages: readonly string[]): string {
  const families = new Map<string, { readonly head: string; samples: string }>()
  for (const block of pages.flatMap((page) => page.split(/^(?=# HELP )/m))) {
    const [help = '', type = '', ...samples] = block.split('\n')
    const name = help.split(' ')[2] ?? ''
    const known = families.get(name)
    if (known) known.samples += samples.join('\n')
    else families.set(name, { head: `${help}\n${type}\n`, samples: samples.join('\n') })
  }
  return [...families.values()].map(({ head, samples }) => head + samples).join('')
}

const braced = (labels: Labels): string =>
  labels.length === 0
    ? ''
    : `{${labels.map(([name, value]) => `${name}="${value.toWellFormed().replace(/[\\\n"]/g, escape)}"`).join(',')}}`

/** Escapes a character. Otherwise a quote or line end in a tool's name would begin a new sample. */
const escape = (char: string): string => (char === '\n' ? '\\n' : `\\${char}`)

const numeral = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)

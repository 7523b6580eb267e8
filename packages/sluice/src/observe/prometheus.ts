/**
 * Numbers as Prometheus reads them: text format 0.0.4, in an order that does not change between two readings.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export type Labels = readonly (readonly [name: string, value: string])[]

export interface Sample {
  /** Added to the family's name: `_bucket`, `_sum`, `_count`, or nothing. */
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

export const toPrometheus = (families: readonly Family[]): string =>
  families
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ suffix = '', labels, value }) => `${name}${suffix}${braced(labels)} ${numeral(value)}\n`,
      )
      return `# HELP ${name} ${help.replace(/[\\\n]/g, escape)}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')

const braced = (labels: Labels): string =>
  labels.length === 0
    ? ''
    : `{${labels.map(([name, value]) => `${name}="${value.toWellFormed().replace(/[\\\n"]/g, escape)}"`).join(',')}}`

/** A quote or line end in a tool's name would otherwise begin a sample of its own. */
const escape = (char: string): string => (char === '\n' ? '\\n' : `\\${char}`)

const numeral = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)

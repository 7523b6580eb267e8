/** What the work of a ticket asked while it ran, and the answers, in order. Both are texts of strangers. */

import type { JSX } from 'preact'
import type { Ticket } from '../../../sluice/src/operate/console/api.ts'
import { Code, countHidden, HiddenWarning, toLines } from '../code.tsx'
import { Chip } from '../ui.tsx'

type Asked = NonNullable<Ticket['questions']>[number]

export function Questions({ questions }: { readonly questions: readonly Asked[] }): JSX.Element {
  const shown = questions.map(({ question, answer }) => ({ question, ...readAnswer(answer) }))
  const lines = shown.flatMap(({ question, text = '' }) => [...question.split('\n'), ...text.split('\n')])
  const hidden = lines.reduce((sum, line) => sum + countHidden(line), 0)
  return (
    <section class="block">
      <h3>Questions while it ran</h3>
      <p class="dim">The approval does not cover the answers.</p>
      <HiddenWarning count={hidden} />
      <ol class="questions">
        {shown.map(({ question, action, text }, at) => (
          <li key={String(at)}>
            <Code label={`Question ${at + 1}`} small>
              {toLines(question)}
            </Code>
            <p>
              <Chip tone={tones[action]}>{action}</Chip>
            </p>
            {text !== undefined && (
              <Code label={`Answer ${at + 1}`} small>
                {toLines(text)}
              </Code>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const tones = { answered: 'good', declined: 'bad', cancelled: 'bad', 'no answer yet': 'accent' } as const

interface ShownAnswer {
  readonly action: keyof typeof tones
  readonly text?: string
}

/** Reads an elicitation's action and content. Other answers, and those that were cut, are shown as they are. */
function readAnswer(answer: string | undefined): ShownAnswer {
  if (answer === undefined) return { action: 'no answer yet' }
  const value = parse(answer)
  if (value === undefined) return { action: 'answered', text: answer }
  const { action, content, ...rest } = value
  const word = actions.get(action)
  const shown = word && Object.keys(rest).length === 0 ? content : value
  return { action: word ?? 'answered', ...(shown !== undefined && { text: JSON.stringify(shown, undefined, 2) }) }
}

const actions: ReadonlyMap<unknown, keyof typeof tones> = new Map([
  ['accept', 'answered'],
  ['decline', 'declined'],
  ['cancel', 'cancelled'],
])

function parse(text: string): { readonly [member: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

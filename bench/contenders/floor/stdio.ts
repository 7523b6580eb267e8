/** The floor over stdio: split at newlines, parse, print, one write per chunk read. No checks, no protocol. */

interface Call {
  readonly id: number
  readonly params: { readonly arguments: { readonly text: string } }
}

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  let answers = ''
  for (const line of lines) {
    const { id, params }: Call = JSON.parse(line)
    const content = [{ type: 'text', text: params.arguments.text }]
    answers += `${JSON.stringify({ jsonrpc: '2.0', id, result: { content } })}\n`
  }
  process.stdout.write(answers)
})

/**
 * A Lisp image with Swank: an SBCL started by us, which listens only on this machine and only for clients with its
 * secret, or a running one that we join.
 */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from 'sluice'
import { childEnvironment } from 'sluice/node'
import { openCompileCache } from './compile-cache.ts'
import { sym } from './sexp.ts'
import type { Swank } from './swank.ts'
import { connectSwank } from './swank.ts'

export interface Image {
  readonly swank: Swank
  /** Started by us, or running before and joined. */
  readonly origin: 'started' | 'joined'
  readonly address: string
  close(): Promise<void>
}

export interface ImageOptions {
  /** The cache for compiled Swank, so that only the first start is slow. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const loaders = ['/usr/share/common-lisp/source/slime/swank-loader.lisp']

/** Says as a sentence what is missing on this machine and what to do; `undefined` if nothing is. */
export function missingPrograms(env: ImageOptions['env']): string | undefined {
  const parts = [findSbcl(env) ? undefined : 'sbcl', findLoader(env) ? undefined : 'cl-swank'].filter((part) => part)
  if (parts.length === 0) return undefined
  return `install ${parts.join(' and ')} to enable (Debian and Ubuntu: apt-get install sbcl cl-swank)`
}

const findSbcl = (env: ImageOptions['env']): string | undefined =>
  [env['SBCL'], ...(env['PATH'] ?? '').split(':').map((folder) => join(folder, 'sbcl'))].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  )
const findLoader = (env: ImageOptions['env']): string | undefined =>
  [env['SWANK_LOADER'], ...loaders].find((path) => path !== undefined && existsSync(path))

/**
 * The secret is the first line of the input. A command line can be read by every user of the machine, and the
 * environment by the code in the image.
 *
 * Debian's loader always compiles into the cache of the account, where several images that start together would read
 * each other's incomplete files. Its set-up is left out, because it compiles what only Emacs uses, and takes longer
 * than all the rest.
 *
 * Sockets send at once: a request is answered by two small messages, and the second would wait 40 ms for the
 * acknowledgement of the first.
 */
const startUpForm = (loader: string, fasls: string): string => `
(progn
  (load ${JSON.stringify(loader)})
  (setf (symbol-value (find-symbol "*FASL-DIRECTORY*" "SWANK-LOADER")) (pathname ${JSON.stringify(`${fasls}/`)})
        (symbol-function (find-symbol "BINARY-PATHNAME" "SWANK-LOADER"))
        (lambda (source folder)
          (merge-pathnames (make-pathname :name (pathname-name source) :type "fasl" :version nil) folder)))
  (funcall (find-symbol "INIT" "SWANK-LOADER") :setup nil)
  (funcall (find-symbol "INIT" "SWANK"))
  (let ((secret (read-line *standard-input*)))
    (setf (symbol-function (find-symbol "SLIME-SECRET" "SWANK")) (lambda () secret)))
  (let ((create (fdefinition (find-symbol "CREATE-SOCKET" "SWANK/BACKEND")))
        (no-delay (fdefinition (list 'setf (find-symbol "SOCKOPT-TCP-NODELAY" "SB-BSD-SOCKETS")))))
    (setf (fdefinition (find-symbol "CREATE-SOCKET" "SWANK/BACKEND"))
          (lambda (&rest arguments)
            (let ((socket (apply create arguments)))
              (funcall no-delay t socket)
              socket))))
  (let ((port (funcall (find-symbol "CREATE-SERVER" "SWANK") :port 0 :dont-close t :interface "127.0.0.1")))
    (format t "~&SLUICE-PORT ~d~%" port)
    (finish-output))
  (loop while (read-line *standard-input* nil)))`

export async function startImage({ folder, env }: ImageOptions, signal: AbortSignal): Promise<Image> {
  const sbcl = findSbcl(env)
  const loader = findLoader(env)
  if (!sbcl || !loader) throw fail(`Lisp is not installed: ${missingPrograms(env) ?? ''}`)
  const visible = childEnvironment(env, { SBCL_HOME: env['SBCL_HOME'] })
  const compiled = await openCompileCache(folder, sbcl, loader, visible)
  const secret = randomBytes(24).toString('hex')
  const child = spawn(
    sbcl,
    ['--noinform', '--disable-debugger', '--no-userinit', '--eval', startUpForm(loader, compiled.folder), '--quit'],
    {
      // The input stays open as long as this process lives; when it ends, the image reads the end of the input and
      // exits too.
      stdio: ['pipe', 'pipe', 'pipe'],
      env: visible,
    },
  )
  child.stdin.on('error', () => {})
  child.stdin.write(`${secret}\n`)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  const stop = (): void => {
    child.kill('SIGKILL')
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const port = await portOf(child)
    const swank = await connectSwank(port, '127.0.0.1', { secret })
    compiled.commit()
    const close = (): void => swank.close()
    exited.then(close, close)
    // A process that lost its connection is unreachable, and would keep its memory and its work.
    swank.closed.then(stop, stop)
    return { swank, origin: 'started', address: `127.0.0.1:${port}`, close: kill }
  } catch (thrown) {
    await kill()
    compiled.discard()
    throw signal.aborted ? fail('The image was disconnected while it started.') : thrown
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function portOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stderr?.resume()
    child.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4096)
      const port = /SLUICE-PORT (\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`sbcl ended with ${code} before Swank listened`)))
  })
}

/** Long enough for a busy image. One that requires a secret never answers, nor does a host that drops packets. */
const connectTimeoutMs = 10_000

export async function joinImage(host: string, port: number): Promise<Image> {
  const address = `${host}:${port}`
  const tooLate = AbortSignal.timeout(connectTimeoutMs)
  const swank = await connectSwank(port, host, { signal: tooLate }).catch(() => {
    throw fail(
      `No Swank server answers at ${address}. Start it in the image: (swank:create-server :port ${port} :dont-close t)`,
    )
  })
  // A closed connection also settles the greeting.
  const close = (): void => swank.close()
  tooLate.addEventListener('abort', close, { once: true })
  try {
    await swank.rex([sym('swank:connection-info')]).outcome
  } catch {
    swank.close()
    throw fail(`The server at ${address} does not answer like Swank. Does it require a secret (~/.slime-secret)?`)
  } finally {
    tooLate.removeEventListener('abort', close)
  }
  return { swank, origin: 'joined', address, close: async () => swank.close() }
}

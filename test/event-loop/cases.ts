/** The largest input of every tool of the five servers, and hostile input of that size for tools that parse. */

import { fileURLToPath } from 'node:url'
import { fitFile, zipOf } from '../../servers/fitness/test/activity-files.fixture.ts'

export interface Case {
  readonly server: string
  readonly tool: string
  /** What is special about it, if the tool has several cases. */
  readonly with?: string
  readonly arguments: () => object
  /** How often it is called; the last arguments are those of the row. */
  readonly times?: number
}

const mebibyte = 1024 * 1024
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** A run of an hour as a watch writes it, 3 600 points. */
const hour = (day: number): string => {
  const start = Date.UTC(2020, 0, 1) + day * 86_400_000
  const points = Array.from(
    { length: 3600 },
    (_, n) =>
      `<trkpt lat="${52 + n * 1e-5}" lon="13.4"><ele>${30 + (n % 9)}</ele><time>${new Date(start + n * 1000).toISOString()}</time></trkpt>`,
  )
  return `<gpx><trk><type>running</type><trkseg>${points.join('')}</trkseg></trk></gpx>`
}
const manyRuns = (): Uint8Array =>
  zipOf(Object.fromEntries(Array.from({ length: 99 }, (_, day) => [`${day}.gpx`, hour(day)])))
const manyFiles = (count: number): Uint8Array =>
  zipOf(
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `${n}.fit`,
        fitFile({ start: new Date(Date.UTC(2000, 0, 1) + n * 3_600_000).toISOString() }),
      ]),
    ),
  )
const compressedBomb = (): Uint8Array => zipOf({ 'a.gpx': `<gpx>${'<a/>'.repeat(2_000_000)}</gpx>` })
const noise = (): Uint8Array => {
  let state = 1
  return new Uint8Array(2.9 * mebibyte).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}
const importing = (name: string, bytes: () => Uint8Array) => (): object => ({
  files: [{ name, content: base64(bytes()) }],
})

const fitness = (share: number): readonly Case[] =>
  [
    { tool: 'get_activities', arguments: () => ({ limit: 500, mode: 'detailed', format: 'toon' }) },
    { tool: 'get_activities', with: 'the last page', arguments: () => ({ limit: 500, offset: 1_000_000 }) },
    { tool: 'get_athlete', arguments: () => ({}) },
    { tool: 'get_stats', arguments: () => ({}) },
    { tool: 'get_activity_intelligence', arguments: () => ({ activity_id: 'file-1' }) },
    { tool: 'analyze_training_load', arguments: () => ({ days: 365, format: 'toon' }) },
    { tool: 'analyze_performance_trends', arguments: () => ({ timeframe: 'year', metric: 'stress' }) },
    { tool: 'compare_activities', arguments: () => ({ activity_id: 'file-1', other_id: 'file-2' }) },
    { tool: 'calculate_fitness_score', arguments: () => ({}) },
    { tool: 'calculate_personalized_zones', arguments: () => ({ ftp: 250 }) },
    { tool: 'predict_performance', arguments: () => ({ distance_m: 200_000 }) },
    { tool: 'analyze_sleep_quality', arguments: () => ({}) },
    { tool: 'track_sleep_trends', arguments: () => ({ nights: 365, format: 'toon' }) },
    { tool: 'calculate_recovery_score', arguments: () => ({}) },
    { tool: 'suggest_rest_day', arguments: () => ({}) },
    { tool: 'optimize_sleep_schedule', arguments: () => ({ utc_offset_hours: 7 }) },
    {
      tool: 'calculate_daily_nutrition',
      arguments: () => ({ weight_kg: 70, height_cm: 175, age: 35, sex: 'female' }),
    },
    { tool: 'get_nutrient_timing', arguments: () => ({ weight_kg: 70, activity_id: 'file-1' }) },
    {
      tool: 'set_goal',
      times: 100,
      arguments: () => ({ title: 'far', goal_type: 'distance', target_value: 1, target_date: '2099-12-31' }),
    },
    { tool: 'track_progress', arguments: () => ({}) },
    { tool: 'get_connection_status', arguments: () => ({}) },
    { tool: 'import_activities', with: '99 runs of an hour', arguments: importing('runs.zip', manyRuns) },
    { tool: 'import_activities', with: 'many files', arguments: importing('files.zip', () => manyFiles(8000 * share)) },
    {
      tool: 'import_activities',
      with: 'a ZIP that unpacks to 8 MB of tags',
      arguments: importing('bomb.zip', compressedBomb),
    },
    { tool: 'import_activities', with: '3 MB of noise', arguments: importing('noise.fit', noise) },
    { tool: 'connect_provider', arguments: () => ({ provider: 'synthetic' }) },
    { tool: 'disconnect_provider', arguments: () => ({ provider: 'files' }) },
  ].map((row) => ({ server: 'fitness', ...row }))

const misspelt = 'rivver stoen gardne widnow mornign laddre pocekt silvre wintre brigde candel markte forset '
const knowledge: readonly Case[] = [
  { tool: 'list_articles', arguments: () => ({ limit: 1_000_000 }) },
  { tool: 'get_article', arguments: () => ({ slug: 'article-1' }) },
  { tool: 'get_article', with: 'a slug of 1 MB', arguments: () => ({ slug: 'x'.repeat(mebibyte - 200) }) },
  { tool: 'search_articles', arguments: () => ({ query: misspelt.repeat(10).slice(0, 500), include_content: true }) },
  { tool: 'search_articles', with: 'short words', arguments: () => ({ query: 'abc '.repeat(125) }) },
  {
    tool: 'search_articles',
    with: 'other short words',
    arguments: () => ({
      query: Array.from(
        { length: 125 },
        (_, n) => `${String.fromCharCode(97 + (n % 26))}${String.fromCharCode(97 + (n >> 3))}q`,
      ).join(' '),
    }),
  },
].map((row) => ({ server: 'knowledge', ...row }))

const lispCode = (): string => `(progn ${'(list 1 2 3) '.repeat(4_900)} 1)`
const lisp: readonly Case[] = [
  { tool: 'repl_connect', arguments: () => ({}) },
  { tool: 'repl_status', arguments: () => ({}) },
  { tool: 'repl_eval', arguments: () => ({ code: lispCode() }) },
  {
    tool: 'repl_eval',
    with: '4 MB of output',
    arguments: () => ({ code: '(dotimes (i 400000) (format t "0123456789~%"))' }),
  },
  { tool: 'repl_eval', with: 'a value of 4 MB', arguments: () => ({ code: '(loop for i below 400000 collect i)' }) },
  { tool: 'repl_compile', arguments: () => ({ code: `(defun turns-long () ${lispCode()})` }) },
  { tool: 'repl_describe', arguments: () => ({ symbol: 'mapcar' }) },
  { tool: 'repl_completions', arguments: () => ({ prefix: 's' }) },
  { tool: 'repl_macroexpand', arguments: () => ({ form: `(when t ${lispCode()})`, all: true }) },
  { tool: 'repl_inspect', arguments: () => ({ variable: '*features*' }) },
  { tool: 'repl_read', arguments: () => ({ expression: `(list ${'1 '.repeat(45)}*features*)`, package: 'CL-USER' }) },
  { tool: 'repl_xref', arguments: () => ({ symbol: 'car', kind: 'callers' }) },
  { tool: 'repl_threads', arguments: () => ({}) },
  { tool: 'trace_function', arguments: () => ({ function: 'turns-long' }) },
  { tool: 'breakpoint_set', arguments: () => ({ function: 'turns-long' }) },
  { tool: 'breakpoint_list', arguments: () => ({}) },
  { tool: 'breakpoint_remove', arguments: () => ({ function: 'turns-long' }) },
  { tool: 'profile_start', arguments: () => ({ package: 'COMMON-LISP-USER' }) },
  { tool: 'profile_report', arguments: () => ({}) },
  { tool: 'profile_stop', arguments: () => ({}) },
  { tool: 'load_system', arguments: () => ({ system: 'no-such-system' }) },
  { tool: 'repl_eval', with: 'an error', arguments: () => ({ code: '(error "stop")' }) },
  { tool: 'debugger_restarts', arguments: () => ({}) },
  { tool: 'debugger_frames', arguments: () => ({}) },
  { tool: 'debugger_step', arguments: () => ({}) },
  { tool: 'debugger_invoke_restart', arguments: () => ({ restart: 0 }) },
  { tool: 'repl_abort', arguments: () => ({}) },
  { tool: 'repl_disconnect', arguments: () => ({}) },
].map((row) => ({ server: 'lisp', ...row }))

const longText = (): string =>
  `${'The quick brown fox jumps over the lazy dog. '.repeat(10)}\n\n`.repeat(22_100).slice(0, 9_999_000)
/** As long as the largest accepted text, whatever its content: an empty line is skipped. */
const padded = (text: string): string => `${text}\n`.padEnd(9_900_000)
const jsonl = (count: number): string =>
  padded(
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({ type: 'memory', text: `note ${n} about rivers and stones ${n * 7}` }),
    ).join('\n'),
  )
const relations = (count: number): string =>
  padded(
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({ type: 'relation', from: { name: `a${n}` }, relation: 'knows', to: { name: `b${n}` } }),
    ).join('\n'),
  )
/** The sources of the library: a few hundred files. */
const sources = fileURLToPath(new URL('../../packages/sluice/src', import.meta.url))
const memory = (share: number): readonly Case[] =>
  [
    { tool: 'search_memory', arguments: () => ({ query: misspelt.repeat(20).slice(0, 1000), limit: 100 }) },
    {
      tool: 'search_memory',
      with: 'common words',
      arguments: () => ({ query: 'river1 stone2 garden3 window4', limit: 100 }),
    },
    { tool: 'list_memories', arguments: () => ({ limit: 100 }) },
    { tool: 'get_stats', arguments: () => ({}) },
    { tool: 'add_relation', arguments: () => ({ from: 'entity 1', relation: 'likes', to: 'entity 2' }) },
    { tool: 'get_related', arguments: () => ({ entity_id: 'entity 1', depth: 5, limit: 50 }) },
    { tool: 'graph_status', arguments: () => ({}) },
    { tool: 'export_graph', arguments: () => ({ format: 'graphml' }) },
    { tool: 'export_memories', arguments: () => ({}) },
    { tool: 'delete_memory', arguments: () => ({ memory_id: '00000000-0000-4000-8000-000000000000', confirm: true }) },
    { tool: 'build_graph', arguments: () => ({ text: 'Anna Schmidt works at Siemens in Munich. '.repeat(2400) }) },
    { tool: 'index_codebase', arguments: () => ({ repo_path: sources }) },
    { tool: 'prune_memory', arguments: () => ({ dry_run: false, confirm: true }) },
    { tool: 'add_memory', with: '10 million characters', arguments: () => ({ text: longText() }) },
    {
      tool: 'add_memory',
      with: '2 million escapes',
      arguments: () => ({ text: '\u0001'.repeat(2_000_000) }),
    },
    {
      tool: 'add_memory',
      with: '12 MB of ideographs',
      arguments: () => ({ text: '山水。'.repeat(1_390_000) }),
    },
    {
      tool: 'search_memory',
      with: 'a text of 10 million characters',
      arguments: () => ({ query: 'quick brown fox', limit: 100 }),
    },
    { tool: 'list_memories', with: 'a text of 10 million characters', arguments: () => ({ limit: 100 }) },
    { tool: 'import_memories', with: 'many memories', arguments: () => ({ jsonl: jsonl(60_000 * share) }) },
    { tool: 'import_memories', with: 'many relations', arguments: () => ({ jsonl: relations(20_000 * share) }) },
    { tool: 'export_memories', with: 'after the import', arguments: () => ({}) },
    { tool: 'export_graph', with: 'after the import', arguments: () => ({}) },
    { tool: 'create_workspace', arguments: () => ({ workspace_id: 'other', name: 'Other' }) },
    { tool: 'list_workspaces', arguments: () => ({}) },
    { tool: 'set_current_workspace', arguments: () => ({ workspace_id: 'other' }) },
    { tool: 'get_current_workspace', arguments: () => ({}) },
    { tool: 'delete_workspace', arguments: () => ({ workspace_id: 'other', confirm: true }) },
    { tool: 'clear_all', arguments: () => ({ confirm_phrase: 'DELETE ALL MEMORIES' }) },
  ].map((row) => ({ server: 'memory', ...row }))

const stops = ['Huế', 'Hà Nội', 'Đà Nẵng', 'Cà Mau', 'Vinh', 'Nha Trang', 'Lào Cai']
const routes: readonly Case[] = [
  { tool: 'calculate_route', with: 'the first call', arguments: () => ({ origin: 'Hanoi', destination: 'Hue' }) },
  {
    tool: 'calculate_route',
    with: '150 waypoints',
    arguments: () => ({
      origin: 'Hanoi',
      destination: 'Cà Mau',
      waypoints: Array.from({ length: 150 }, (_, n) => stops[n % stops.length]),
    }),
  },
  {
    tool: 'calculate_route',
    with: '5 alternatives',
    arguments: () => ({ origin: 'Móng Cái', destination: 'Cà Mau', alternatives: 5 }),
  },
  {
    tool: 'calculate_route',
    with: '150 unknown places',
    arguments: () => ({
      origin: 'Hanoi',
      destination: 'Cà Mau',
      waypoints: Array.from({ length: 150 }, (_, n) => `${'abcdefghij'.repeat(19)}${n}`),
    }),
  },
  { tool: 'get_route_with_traffic', arguments: () => ({ origin: 'Hanoi', destination: 'Hue' }) },
  { tool: 'geocode_address', arguments: () => ({ address: 'abcdefghij'.repeat(20) }) },
  { tool: 'save_destination', arguments: () => ({ name: 'home', address: 'Huế' }) },
  { tool: 'update_destination', arguments: () => ({ destination: 'home', address: 'Vinh' }) },
  { tool: 'list_destinations', arguments: () => ({}) },
  { tool: 'delete_destination', arguments: () => ({ destination: 'home' }) },
].map((row) => ({ server: 'routes', ...row }))

/**
 * `share` scales the rows of an import: their number makes a call longer, but no turn. Sizes are always the largest.
 */
export const casesOf = (share: number): readonly Case[] => [
  ...fitness(share),
  ...knowledge,
  ...lisp,
  ...memory(share),
  ...routes,
]

/** Every word of the app in English. Other languages have the same keys; the compiler sees to it. */
import type { HeldReason, InputState, PermissionMode } from '@wheelhouse/client'
import type { Mood } from '../state/needs.ts'
import type { Danger, ToolKind, ToolSummary } from '../state/tools.ts'

const count = (n: number, one: string, many: string): string => `${String(n)} ${n === 1 ? one : many}`

export const en = {
  locale: 'en',
  // Common
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  remove: 'Delete',
  edit: 'Edit',
  back: 'Back',
  copy: 'Copy',
  copied: 'Copied',
  more: 'More',
  tryAgain: 'Try again',
  loading: 'Loading',
  optional: 'optional',
  none: 'None',
  units: { h: 'h', m: 'm', s: 's' },
  ages: { now: 'now', m: 'm', h: 'h', d: 'd' },
  days: { today: 'Today', yesterday: 'Yesterday' },
  moods: {
    working: 'Working',
    waiting: 'Waiting for you',
    stalled: 'No sign of life for a while',
    error: 'Ended with an error',
    held: 'Messages are held',
    idle: 'Idle',
  } satisfies { [mood in Mood]: string },

  // Rail
  sessions: 'Sessions',
  needsYou: 'Needs you',
  newSession: 'New session',
  search: 'Search',
  searchHint: 'Find a session or a page',
  searchNothing: 'Nothing has that name.',
  noSessionsYet: 'No sessions yet.',
  noAgentGroup: 'Without an agent',
  unnamed: 'Unnamed session',
  agents: 'Agents',
  providers: 'Providers',
  settings: 'Settings',
  shortcuts: 'Keyboard',
  hideRail: 'Hide the list',
  showRail: 'Show the list',
  skipToMain: 'Skip to the session',
  needDecide: 'A message needs your decision',
  needHeld: (n: number) => `${count(n, 'message is', 'messages are')} held`,
  needQuarantined: 'Put aside after an internal error',

  // Line to the host
  offline: (time: string) => `Not connected; what you see is as of ${time}. Trying again.`,
  offlineFirst: 'The host does not answer. Trying again.',
  offlineHint: 'Is the host running? `wheelhouse serve` starts it.',
  tryNow: 'Try now',
  refusedLine: 'The host refuses this connection.',
  sessionGone: 'This session does not exist, or was deleted.',
  pageGone: 'There is nothing at this address.',
  toStart: 'To the start',

  // Login
  loginTitle: 'This page is not signed in',
  loginText: 'Wheelhouse signs a browser in with a link that works once. Print one with',
  loginAfter: 'and open it here.',
  loginUsed: 'This link was used already or is older than 60 seconds.',
  signingIn: 'Signing in',

  // Session header
  sessionName: 'Name of the session',
  rename: 'Rename',
  model: 'Model',
  mode: 'Permissions',
  modelFor: (agent: string) => `Model of ${agent}, in all its sessions`,
  modeFor: (agent: string) => `How far ${agent} may go without asking, in all its sessions`,
  noModel: 'No model',
  contextMeter: (used: string, max: string | null) =>
    max === null ? `${used} tokens of context used` : `${used} of ${max} tokens of context used`,
  copyPath: 'Copy the folder’s path',
  copyLink: 'Copy link',
  changeFolder: 'Change the folder',
  deleteSession: 'Delete the session',
  deleteSessionTitle: 'Delete this session?',
  deleteSessionText: 'Its transcript goes for good, and a running turn is stopped. Files in the folder stay.',
  release: 'Take it back into use',
  quarantined: 'This session was put aside after an internal error, so that nothing in it gets worse. Its transcript is safe.',
  quarantinedHint: 'Look with `wheelhouse doctor`, then take it back into use.',
  backgroundTasks: (n: number) => count(n, 'background task', 'background tasks'),
  modes: {
    default: 'Ask first',
    acceptEdits: 'Edits allowed',
    plan: 'Plan only',
    auto: 'Automatic',
    bypassPermissions: 'Full access',
  } satisfies { [mode in PermissionMode]: string },
  modeHints: {
    default: 'Asks before it changes files or runs commands.',
    acceptEdits: 'Changes files in its folder without asking; asks before commands.',
    plan: 'Reads and plans; changes nothing.',
    auto: 'Decides by itself what needs asking.',
    bypassPermissions: 'Runs everything without asking. Only for folders you can lose.',
  } satisfies { [mode in PermissionMode]: string },

  // Transcript
  transcript: 'Transcript',
  emptySession: 'Nothing here yet.',
  emptySessionHint: 'Write what should be done; the agent works in the folder above.',
  olderLoading: 'Loading older messages',
  toNewest: 'To the newest',
  newBelow: 'New below',
  you: 'You',
  agentSaid: 'Agent',
  steeredHere: 'steered here',
  seenNotAnswered: 'Seen, not answered',
  sending: 'Sending',
  waitsForLine: 'Waits for the connection',
  notSent: 'Not sent',
  sendAgain: 'Send again',
  discard: 'Discard',
  thinking: 'Thinking',
  thought: 'Thought',
  thoughtFor: (time: string) => `Thought for ${time}`,
  origins: {
    channel: 'from a channel',
    scheduled: 'scheduled',
    delivery: 'from another session',
    autonomous: 'started by the agent',
  } as { readonly [origin: string]: string },
  sentBy: (name: string) => `sent by ${name}`,
  copyMessage: 'Copy the message',
  linkToMessage: 'Copy a link to this message',
  took: (time: string) => `Took ${time}`,
  wrapLines: 'Wrap lines',
  openAll: (lines: number) => `Show all ${String(lines)} lines`,
  showLess: 'Show less',
  noOutput: 'No output',
  input: 'Input',
  output: 'Output',
  exit: (code: number) => `exit ${String(code)}`,
  failed: 'failed',
  stoppedCall: 'stopped',
  denied: 'denied',
  waitingForYou: 'waiting for you',
  imagesIn: (n: number) => count(n, 'picture', 'pictures'),
  unchangedLines: '…',
  externalImage: 'Picture from the web, not loaded',
  answeredBy: (status: string, by: string | null) => (by === null ? `${status} in the web app` : `${status} by ${by}`),
  approvalStates: { pending: 'waiting', allowed: 'allowed', denied: 'denied', expired: 'expired' },
  neverApplied: 'answered, not used',

  notes: {
    CONTEXT_LOST: 'The agent could not go on from its earlier conversation. It answers without having it in mind.',
    'compaction-started': 'The conversation is being summarised to make room.',
    'compaction-completed':
      'The conversation was summarised to make room. The transcript above is complete; the agent works from the summary.',
    'compaction-failed': 'The conversation could not be summarised.',
  } as { readonly [code: string]: string },
  usage: (tokensIn: string, tokensOut: string, cost: string | null) =>
    `${tokensIn} tokens in, ${tokensOut} out${cost === null ? '' : `, $${cost}`}`,

  // The live row
  starting: 'Starting the agent',
  working: 'Working',
  stopping: 'Stopping',
  waitsForYou: 'Waiting for you',
  compacting: 'Summarising the conversation to make room',
  stalled: (time: string) => `No sign of life from the agent lately; its turn began ${time} ago. It may still be at work. Stop it if not.`,
  retrying: (attempt: number, max: number | null, seconds: number) =>
    `The provider failed; try ${String(attempt)}${max === null ? '' : ` of ${String(max)}`}${seconds > 0 ? ` in ${String(seconds)} s` : ''}`,

  // Ends that are not success
  ends: {
    paused: 'Stopped',
    interrupted: 'Interrupted',
    error: 'Failed',
  },
  heldAfter: (n: number) => `${count(n, 'message is', 'messages are')} held.`,
  runThem: (n: number): string => (n === 1 ? 'Run it' : 'Run them'),
  providerSays: 'In its own words',

  // Queue
  queue: 'Waiting messages',
  queueCount: (n: number) => count(n, 'message waits', 'messages wait'),
  inputStates: {
    queued: 'runs after this turn',
    steering: 'goes to the agent at its next step',
    offered: 'on its way to the agent',
    taken: 'taken',
    held: 'held',
    unknown: 'may have reached the agent',
    withdrawn: 'withdrawn',
  } satisfies { [state in InputState]: string },
  queuedIdle: 'waits for a free place',
  heldReasons: {
    stopped: 'you stopped the turn before it',
    interrupted: 'the turn before it was interrupted',
    failed: 'the turn before it failed',
    hold: 'the host takes no new work now',
    restored: 'it came from a backup',
  } satisfies { [reason in HeldReason]: string },
  heldCount: (n: number) => `${count(n, 'message is', 'messages are')} held`,
  runQueue: 'Run',
  discardQueue: 'Discard',
  discardTitle: 'Discard the held messages?',
  discardText: (n: number) => `${count(n, 'message', 'messages')} will not be sent.`,
  withdraw: 'Withdraw',
  unknownText: 'The host stopped just when this was handed over. Nobody knows whether the agent has it.',
  dismiss: 'Leave it',
  saveEdit: 'Save',

  // Composer
  composer: 'Message to the agent',
  placeholder: 'What should be done?',
  placeholderRunning: 'Steer the agent, or queue what comes next',
  send: 'Send',
  steer: 'Steer',
  queueIt: 'Queue',
  stop: 'Stop',
  stopAgain: 'Esc again to stop',
  hintSend: 'Enter sends, Shift-Enter makes a new line',
  hintTouch: { steer: 'Steer: the agent gets it at its next step', queue: 'Runs after this turn', send: '' },
  hintSteer: 'Enter: at its next step',
  hintQueue: 'after this turn',
  hintNoSteer: 'This agent cannot be steered; this runs after its turn',
  hintHeldBeside: 'Runs at once; the held messages stay held',
  hintStopping: 'The turn is stopping: this is held until you run it',
  hintOffline: 'Not connected; what you send goes when the connection is back',
  hintQuarantined: 'This session takes no messages now',
  hintNoAgent: 'This session has no agent',
  tooLong: (size: string) => `Too long: ${size} of 1 MiB`,

  // Approvals
  approvals: 'Waiting for your answer',
  approvalOf: (at: number, all: number) => `${String(at)} of ${String(all)}`,
  allow: 'Allow',
  deny: 'Deny',
  denyReason: 'Reason, for the agent',
  denyWithReason: 'Deny with a reason',
  exactInput: 'Exact input',
  askedAt: (time: string) => `asked at ${time}`,
  answer: 'Answer',
  ownAnswer: 'Something else',
  ownAnswerHint: 'Your own answer',
  planTitle: 'The agent has a plan',
  planAllow: 'Go ahead',
  planDeny: 'Not yet',
  questionTitle: 'The agent asks',
  will: (kind: ToolKind, tool: ToolSummary, folder: string): string => {
    switch (kind) {
      case 'shell':
        return `Run a command in ${folder}`
      case 'edit':
        return `Change ${tool.object}`
      case 'write':
        return `Write ${tool.object}`
      case 'read':
        return `Read ${tool.object}`
      case 'search':
        return `Search for ${tool.object}`
      case 'list':
        return `List ${tool.object}`
      case 'fetch':
        return `Open ${tool.object}`
      case 'web-search':
        return `Search the web for ${tool.object}`
      case 'agent':
        return `Start a sub-agent: ${tool.object}`
      case 'send':
        return `Send this message to ${tool.object}`
      case 'mcp':
        return `Use ${tool.name} of ${tool.server ?? ''}`
      default:
        return `Use ${tool.name}`
    }
  },
  itsFolder: 'its own folder',
  dangers: {
    deletes: 'deletes or resets files',
    network: 'uses the network',
    outside: 'outside the folder',
    force: 'skips a safety check',
    privileged: 'asks for more rights',
  } satisfies { [danger in Danger]: string },
  toolDone: {
    shell: 'Ran',
    edit: 'Edited',
    write: 'Wrote',
    read: 'Read',
    search: 'Searched',
    list: 'Listed',
    fetch: 'Opened',
    'web-search': 'Searched the web',
    agent: 'Sub-agent',
    todo: 'Updated the to-dos',
    question: 'Asked you',
    plan: 'Made a plan',
    send: 'Sent to',
    mcp: 'Used',
    other: 'Used',
  } satisfies { [kind in ToolKind]: string },
  toolAsks: {
    shell: 'Run',
    edit: 'Edit',
    write: 'Write',
    read: 'Read',
    search: 'Search',
    list: 'List',
    fetch: 'Open',
    'web-search': 'Search the web',
    agent: 'Sub-agent',
    todo: 'To-dos',
    question: 'A question',
    plan: 'A plan',
    send: 'Send to',
    mcp: 'Use',
    other: 'Use',
  } satisfies { [kind in ToolKind]: string },
  toolDoing: {
    shell: 'Running',
    edit: 'Editing',
    write: 'Writing',
    read: 'Reading',
    search: 'Searching',
    list: 'Listing',
    fetch: 'Opening',
    'web-search': 'Searching the web',
    agent: 'Sub-agent',
    todo: 'Updating the to-dos',
    question: 'Asking you',
    plan: 'Planning',
    send: 'Sending to',
    mcp: 'Using',
    other: 'Using',
  } satisfies { [kind in ToolKind]: string },

  // New session and first run
  newTitle: 'What should be done?',
  newPlaceholder: 'Describe the work. The agent starts when you press Enter.',
  newPlaceholderTouch: 'Describe the work. The agent starts when you press Start.',
  startSession: 'Start',
  agent: 'Agent',
  workspace: 'Folder',
  ownFolder: 'A new, empty folder',
  existingFolder: 'A folder you have',
  folderPath: 'Path of the folder',
  folderHint: 'The full path on the machine where the host runs.',
  firstTitle: 'Three steps to a running agent',
  firstProvider: 'A provider',
  firstProviderText: 'Where the model answers, with its key.',
  firstAgent: 'An agent',
  firstAgentText: 'A runtime, a model, and how far it may go without asking.',
  firstMessage: 'A message',
  firstMessageText: 'Say what should be done.',
  addProvider: 'Add a provider',
  addAgent: 'Add an agent',
  done: 'Done',
  practiceNote: 'The practice agent runs for real, on a model that only practises: good for a first look, and free.',

  // Agents
  noAgents: 'No agents yet.',
  noAgentsHint: 'An agent is a runtime with a model and rules. Sessions belong to one.',
  agentName: 'Name',
  runtime: 'Runtime',
  notInstalled: 'not installed',
  provider: 'Provider',
  chooseProvider: 'Choose a provider',
  chooseModel: 'Choose a model',
  permissions: 'Permissions',
  instructions: 'Instructions',
  instructionsHint: 'Added to what the agent is told in every session.',
  disabledTools: 'Tools it must not use',
  disabledToolsHint: 'Names, separated by commas.',
  deleteAgentTitle: 'Delete this agent?',
  deleteAgentText: 'Its sessions stay, but cannot go on until they have another agent.',
  deleteAgent: 'Delete the agent',
  agentSessions: (n: number) => count(n, 'session', 'sessions'),
  saved: 'Saved',
  changesApply: 'A session that is at work takes the change at its next turn.',

  // Providers
  noProviders: 'No providers yet.',
  noProvidersHint: 'A provider is a place that serves models: Anthropic, an OpenAI-compatible server, or one on this machine.',
  providerName: 'Name',
  protocol: 'Protocol',
  protocols: { anthropic: 'Anthropic Messages', 'openai-chat': 'OpenAI Chat', 'openai-responses': 'OpenAI Responses' },
  baseUrl: 'Address',
  apiKey: 'API key',
  keyStored: 'A key is stored. It is never shown; a new one replaces it.',
  keyNone: 'Kept by the host and never shown again.',
  forgetKey: 'Forget the key',
  models: 'Models',
  modelsHint: 'One a line: the id, and after a comma the size of its context in tokens if you know it.',
  modelLineBad: (line: string) =>
    `Cannot read “${line}”: it takes an id without spaces, and after a comma a number of tokens, as in “my-model, 200000”.`,
  testProvider: 'Test',
  testOk: (ms: number) => `It answers, after ${String(ms)} ms.`,
  testBad: (status: string) => `It does not answer as it should: ${status}`,
  deleteProvider: 'Delete the provider',
  deleteProviderTitle: 'Delete this provider?',
  deleteProviderText: 'Its key is forgotten. Agents that use it must be changed first.',
  keyMissing: 'no key',
  required: 'This is needed.',
  staleForm: 'It was changed elsewhere since you opened this page.',
  loadNewer: 'Load the newer state',

  // Settings
  theme: 'Colours',
  themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  language: 'Language',
  languageAuto: 'As the browser',
  notifications: 'Notifications',
  notificationsHint: 'Tell me when an agent waits for an answer and this page is not in front.',
  notificationsBlocked: 'The browser blocks notifications for this page.',
  signOut: 'Sign out of this browser',
  about: 'About this host',
  version: 'Version',
  dataDir: 'Data',
  runtimes: 'Runtimes',
  notifyTitle: (session: string) => `${session} waits for you`,

  // Keyboard
  keysTitle: 'Keyboard',
  keysGroups: { anywhere: 'Anywhere', session: 'In a session', writing: 'While writing' },
  keys: {
    search: 'Find a session',
    create: 'New session',
    nextSession: 'Next, previous session',
    needsYou: 'Next that needs you',
    rail: 'Hide or show the list',
    help: 'This list',
    write: 'Write a message',
    allow: 'Allow what waits',
    deny: 'Deny what waits',
    stop: 'Stop the turn',
    newest: 'To the newest',
    send: 'Send, or steer while it works',
    queue: 'Queue for after this turn',
    newLine: 'New line',
    leave: 'Leave the text field',
  },

  // Errors
  problem: 'That did not work',
  failures: {
    network: 'The host does not answer. Nothing is lost: try again.',
    timeout: 'The host took too long to answer.',
    'not-wheelhouse': 'What answers at this address is not a Wheelhouse host.',
  } as { readonly [failure: string]: string },
  errors: {} as { readonly [code: string]: { title: string; advice: string } },
  crashed: 'This part of the page failed to draw.',
  crashedHint: 'Your sessions are not affected; they live on the host.',
  reload: 'Load the page again',
}

/** The form every language has. */
export type Catalogue = typeof en

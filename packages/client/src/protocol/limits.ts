/** Limits a client can meet, each with its reason. GET /v1/info reports the ones in force. */
const KiB = 1024
const MiB = 1024 * KiB

/** The limits by name; sizes in bytes, times in milliseconds. */
export const LIMITS = {
  /** A message's text in bytes: more than any prompt, small enough to index and copy. */
  messageTextBytes: 1 * MiB,
  /** A request body: the text as JSON may double, parts add some. */
  requestBodyBytes: 4 * MiB,
  /** Tool output kept in the row; what is longer is cut with a note, so that rows stay quick to read. */
  toolOutputInlineBytes: 64 * KiB,
  /** Untaken inputs of one session: a person cannot oversee more, and a runaway client is stopped. */
  queueLength: 100,
  /** Bytes of the text of those inputs together: every snapshot of the session holds them. */
  queueBytes: 4 * MiB,
  /** Bytes a slow subscriber may be behind before it is told to resync. */
  subscriberBufferBytes: 4 * MiB,
  /** Open streams of a host: each holds a socket and may hold a buffer. A browser needs one, however many tabs. */
  streams: 2000,
  /** How long an approval waits for a person. */
  approvalWaitMs: 24 * 60 * 60 * 1000,
  /** Free disk below which no new work is admitted; terminals still commit. */
  diskLowBytes: 512 * MiB,
  /** Names and titles, in characters. */
  nameLength: 255,
  /** Transcript page, rows: the default and the most. */
  pageDefault: 50,
  pageMax: 200,
} as const

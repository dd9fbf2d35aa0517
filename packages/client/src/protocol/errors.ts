/**
 * Every error code a person or program can meet. A code never changes its meaning; `status` is the
 * HTTP status of a refusal, or null for codes that only stand on rows.
 */
export type ErrorEntry = { status: number | null; title: string; advice: string; retryable: boolean }

const entry = (status: number | null, title: string, advice: string, retryable = false): ErrorEntry => ({
  status,
  title,
  advice,
  retryable,
})

/** All codes, each with its status, title and advice. */
export const ERRORS = {
  // Who asks
  UNAUTHENTICATED: entry(
    401,
    'No valid token',
    'Send the token from the data directory as a bearer token, or open the web app through `wheelhouse open`.',
  ),
  FORBIDDEN: entry(403, 'Not allowed for this token', 'Use a token with write access.'),
  HOST_NOT_ALLOWED: entry(421, 'The Host header does not name this server', 'Call the address the server printed at its start.'),
  ORIGIN_NOT_ALLOWED: entry(
    403,
    'Requests from this web origin are refused',
    'Open the web app at the address the server printed at its start.',
  ),
  LOGIN_CODE_INVALID: entry(401, 'This one-time link is used or older than 60 seconds', 'Run `wheelhouse open` for a new one.'),
  // What is asked
  NOT_FOUND: entry(404, 'No such route', 'See /openapi.json for the routes.'),
  INVALID_REQUEST: entry(400, 'The request is not of the form this route takes', 'See `detail` for the field.'),
  UNSUPPORTED_MEDIA_TYPE: entry(415, 'Bodies are JSON', 'Send content-type: application/json.'),
  BODY_TOO_LARGE: entry(413, 'The body is larger than this route takes', 'See limits in /v1/info.'),
  INVALID_CURSOR: entry(400, 'The cursor cannot be read', 'Use a cursor as it was given, or start without one.'),
  STALE_REV: entry(409, 'It has changed since you read it', 'Read it again and repeat the change.'),
  PRECONDITION_REQUIRED: entry(428, 'If-Match with the rev is needed', 'Send If-Match with the rev you read.'),
  IDEMPOTENCY_KEY_REUSED: entry(409, 'This Idempotency-Key was used for another body', 'Use a new key for a new request.'),
  // Things
  SESSION_NOT_FOUND: entry(404, 'No such session', 'List sessions for their ids.'),
  MESSAGE_NOT_FOUND: entry(404, 'No such message', 'Read the session again.'),
  AGENT_NOT_FOUND: entry(404, 'No such agent', 'List agents for their ids.'),
  PROVIDER_NOT_FOUND: entry(404, 'No such provider', 'List providers for their ids.'),
  APPROVAL_NOT_FOUND: entry(404, 'No such approval', 'List approvals for their ids.'),
  RESOURCE_IN_USE: entry(409, 'Something else still uses it', 'See `detail` for what; remove or change that first.'),
  // A turn cannot start
  SESSION_HAS_NO_AGENT: entry(409, 'The session has no agent', 'Give the session an agent.'),
  AGENT_HAS_NO_MODEL: entry(409, 'The agent has no model', 'Choose a provider and a model for the agent.'),
  DRIVER_NOT_REGISTERED: entry(409, 'No driver for this kind of agent', 'Choose another agent type; see drivers in /v1/info.'),
  DRIVER_NOT_INSTALLED: entry(409, 'The driver for this kind of agent is not installed', 'See drivers in /v1/info for how to install it.'),
  WORKSPACE_MISSING: entry(409, 'The workspace folder is missing', 'Put a folder there, or choose another one.'),
  WORKSPACE_NOT_A_DIRECTORY: entry(409, 'The workspace path is not a folder', 'Put a folder there, or choose another one.'),
  WORKSPACE_FORBIDDEN: entry(409, 'The workspace folder cannot be read', 'Give this user access to the folder.'),
  WORKSPACE_UNAVAILABLE: entry(503, 'The workspace folder does not answer', 'Try again when its disk or mount is back.', true),
  QUEUE_FULL: entry(409, 'The queue of this session is full', 'Wait, or withdraw queued messages.'),
  DISK_LOW: entry(507, 'The disk is nearly full', 'Free disk space; running turns still finish.', true),
  // Commands against live state
  TURN_NOT_CURRENT: entry(409, 'That turn is over', 'Read the session again; nothing was stopped.'),
  INPUT_ALREADY_TAKEN: entry(409, 'The agent already has this message', 'Send another message instead.'),
  INPUT_NOT_UNKNOWN: entry(409, 'This message needs no decision', 'Read the session again.'),
  APPROVAL_NOT_PENDING: entry(409, 'This request is no longer pending', 'It was answered or has expired; read it again.'),
  NOT_SUPPORTED: entry(409, 'The agent of this session cannot do this', 'See its driver’s capabilities in /v1/info.'),
  SESSION_BUSY: entry(409, 'The session is at work', 'Wait for the turn to end, or stop it.', true),
  SESSION_QUARANTINED: entry(409, 'The session is quarantined after an internal error', 'Run `wheelhouse doctor`, then release it.'),
  SESSION_NOT_QUARANTINED: entry(409, 'The session is not quarantined', 'Nothing to release.'),
  RESOURCE_LOCKED: entry(409, 'It cannot be removed while it is on its way', 'Wait until it is delivered, or delete the session.'),
  TOO_MANY_STREAMS: entry(503, 'Too many streams are open', 'Close windows that nobody looks at; one stream shows many sessions.', true),
  HELD: entry(503, 'The host takes no new work now', 'Try again when the hold is released.', true),
  STORE_FAILED: entry(503, 'The change could not be saved; nothing was done', 'Try again.', true),
  SHUTTING_DOWN: entry(503, 'The host is stopping', 'Try again when it is back.', true),
  INTERNAL_ERROR: entry(500, 'Something went wrong inside the host', 'Try again; the log has the details.', true),
  // Standing on rows
  TURN_INTERRUPTED: entry(null, 'The host restarted while this ran', 'What was shown is kept; the run was not repeated.'),
  AGENT_PROCESS_LOST: entry(
    null,
    'The agent’s process ended while this ran',
    'Send the next message; the conversation goes on from the last saved point.',
  ),
  CONNECT_FAILED: entry(null, 'The agent could not be started', 'See the error text; then send again.'),
  PROVIDER_ERROR: entry(null, 'The model provider refused or failed', 'See the provider’s own words.'),
  PROVIDER_AUTH_FAILED: entry(null, 'The provider refused the key', 'Check the provider’s API key.'),
  AGENT_ERROR: entry(null, 'The agent reported an error', 'See the error text.'),
  TERMINAL_PERSISTENCE_FAILED: entry(
    null,
    'The end of this turn could not be saved',
    'What was shown before is kept; send the next message.',
  ),
  INTERNAL_QUARANTINE: entry(null, 'The host met an internal error in this turn', 'Run `wheelhouse doctor`.'),
} as const satisfies Record<string, ErrorEntry>

/** A code of {@link ERRORS}. */
export type ErrorCode = keyof typeof ERRORS

/** Errors on the wire: RFC 9457 with our stable code. */
export type Problem = { type: string; title: string; status: number; code: ErrorCode; detail: string; retryable: boolean }

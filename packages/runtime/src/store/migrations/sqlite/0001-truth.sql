-- Everything the host owes anybody. `no` is arrival order: unlike ids and times no clock can disturb it, and a
-- declared integer key survives VACUUM. Times are ISO 8601 text, written by the host; nothing is ordered by them.

create table host_fact (
  name text primary key,
  value text not null
) strict, without rowid;

create table provider (
  no integer primary key,
  id text not null unique,
  rev integer not null,
  name text not null,
  protocol text not null,
  base_url text not null,
  models text not null,
  idempotency_key text unique,
  body_hash text,
  created_at text not null,
  updated_at text not null
) strict;

create table agent (
  no integer primary key,
  id text not null unique,
  rev integer not null,
  name text not null,
  type text not null,
  provider_id text references provider (id),
  model_id text,
  instructions text not null,
  permission_mode text not null,
  disabled_tools text not null,
  mcp_server_ids text not null,
  skill_ids text not null,
  channels text not null,
  language text,
  idempotency_key text unique,
  body_hash text,
  created_at text not null,
  updated_at text not null
) strict;

create table session (
  no integer primary key,
  id text not null unique,
  -- The fence of every commit: raised first, together with the two counters of the owner.
  rev integer not null,
  last_seq integer not null default 0,
  last_queue_pos integer not null default 0,
  agent_id text references agent (id),
  name text not null,
  description text not null,
  workspace_kind text not null check (workspace_kind in ('system', 'user')),
  workspace_path text not null,
  phase text not null default 'active' check (phase in ('active', 'quarantined')),
  quarantine_reason text,
  -- The one owner of the resume token; a higher epoch makes every copy on a row worthless.
  resume_token text,
  resume_epoch integer not null default 0,
  last_text text not null default '',
  idempotency_key text unique,
  body_hash text,
  created_at text not null,
  updated_at text not null
) strict;
create index session_agent on session (agent_id, no);

create table message (
  no integer primary key,
  id text not null unique,
  session_id text not null,
  -- 0 = in the inbox, put there by another session and not yet touched by the owner.
  rev integer not null,
  role text not null check (role in ('user', 'assistant')),
  seq integer,
  queue_pos integer,

  -- assistant rows
  status text check (status in ('pending', 'success', 'paused', 'interrupted', 'error')),
  error_code text,
  error_text text,
  kind text check (kind in ('user', 'delivery', 'autonomous', 'compaction')),
  reply_to text,
  roll_of text,
  boundary text check (boundary in ('turn', 'row-roll')),
  deferred integer not null default 0 check (deferred in (0, 1)),
  sent_at text,
  stop_requested_at text,
  stop_queue text check (stop_queue in ('hold', 'run', 'discard')),
  stop_by text,
  resume_token text,
  resume_epoch integer,
  closed_at text,

  -- inputs
  input_state text check (input_state in ('queued', 'steering', 'offered', 'taken', 'held', 'unknown', 'withdrawn')),
  held_reason text check (held_reason in ('stopped', 'interrupted', 'failed', 'hold', 'restored')),
  steer integer not null default 0 check (steer in (0, 1)),
  unanswered integer not null default 0 check (unanswered in (0, 1)),
  consumed_at text,
  sent_by text,
  idempotency_key text,
  body_hash text,

  -- both
  origin text not null,
  headless integer not null check (headless in (0, 1)),
  model_id text,
  turn_id text,
  parts text not null,
  metadata text not null default '{}',

  -- deliveries: the JSON is what a person may read, the columns are what a query or a guard needs
  delivery text,
  delivery_status text check (delivery_status in ('accepted', 'delivering', 'consumed', 'failed')),
  delivery_turn_ref text,
  delivery_in_reply_to text,
  delivery_sender_session_id text,
  delivery_tool_call_id text,

  created_at text not null,
  updated_at text not null,

  check ((delivery_status is 'delivering') = (delivery_turn_ref is not null)),
  check ((delivery_status is null) = (delivery is null)),
  check ((role = 'assistant') = (status is not null)),
  check (role = 'user' or (seq is not null and kind is not null and turn_id is not null and input_state is null)),
  check (role = 'assistant' or input_state is not null or delivery_status is not null),
  -- A place in the transcript is given when an input is taken, a place in the queue until then.
  check (role = 'assistant' or (input_state is 'taken') = (seq is not null)),
  check (input_state is null or input_state in ('taken', 'withdrawn') or queue_pos is not null)
) strict;
-- The transcript, and everything above a cursor.
create unique index message_seq on message (session_id, seq) where seq is not null;
create index message_rev on message (session_id, rev);
-- At most one row that the agent is working on, and at most one that waits beside it.
create unique index message_pending on message (session_id, deferred) where status = 'pending';
-- The queue strip; small however long the history is.
create index message_untaken on message (session_id, queue_pos, input_state) where input_state in ('queued', 'steering', 'offered', 'held', 'unknown');
-- The same key in one session is the same message, as long as the row lives.
create unique index message_key on message (session_id, idempotency_key) where idempotency_key is not null;
create index message_delivery_status on message (delivery_status);
create index message_delivery_turn_ref on message (delivery_turn_ref);
create index message_delivery_sender on message (delivery_sender_session_id, created_at, id);
create unique index message_delivery_result on message (delivery_in_reply_to);
-- The inbox by arrival: what waits, and what is on its way.
create index message_inbox on message (session_id, delivery_status, no) where delivery_status is not null;
-- A tool call that sends is one request, however often the agent repeats it.
create unique index message_delivery_tool_call on message (delivery_sender_session_id, delivery_tool_call_id) where delivery_tool_call_id is not null;

create table tombstone (
  session_id text not null,
  rev integer not null,
  message_id text not null,
  primary key (session_id, rev, message_id)
) strict, without rowid;

create table approval (
  no integer primary key,
  id text not null unique,
  session_id text not null,
  rev integer not null,
  message_id text not null,
  turn_id text not null,
  generation integer not null,
  kind text not null check (kind in ('tool', 'question', 'plan')),
  tool_call_id text not null,
  tool_name text not null,
  input text not null,
  status text not null check (status in ('pending', 'allowed', 'denied', 'expired')),
  reason text,
  decided_by text,
  requested_at text not null,
  decided_at text,
  applied_at text
) strict;
create index approval_rev on approval (session_id, rev);
create index approval_message on approval (message_id);
create index approval_pending on approval (session_id, no) where status = 'pending';

-- Insert only: what a provider call cost does not change afterwards, nor with the life of its session.
create table usage_record (
  no integer primary key,
  request_id text not null unique,
  session_id text not null,
  message_id text not null,
  model_id text,
  input_tokens integer,
  output_tokens integer,
  cache_read_tokens integer,
  cache_write_tokens integer,
  ttft_ms real,
  duration_ms real,
  at text not null
) strict;
create index usage_session on usage_record (session_id, no);

-- Answers of POSTs that made no row: a repeated key gets the same answer for as long as it is kept.
create table answer (
  key text primary key,
  body_hash text not null,
  status integer not null,
  body text not null,
  at text not null
) strict, without rowid;
create index answer_at on answer (at);

create table process_ledger (
  pid integer not null,
  start_time text not null,
  session_id text,
  marker text not null,
  at text not null,
  primary key (pid, start_time)
) strict, without rowid;

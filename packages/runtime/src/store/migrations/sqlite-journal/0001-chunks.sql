-- What was shown of rows that are not final. Append only, one row a tick and message: a key by message and number
-- would rewrite whole pages for every few bytes. `no` is never used twice, so a reader's index cannot point at
-- another message's chunks.
create table chunk_batch (
  no integer primary key autoincrement,
  session_id text not null,
  message_id text not null,
  -- Number of the first chunk, and how many there are.
  n integer not null,
  count integer not null,
  chunks text not null
) strict;

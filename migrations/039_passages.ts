import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The parts of indexed files that searches find.
    create table passages (
      id uuid primary key default gen_random_uuid(),
      file_id text not null references files on delete cascade,
      bot_id text not null references bots on delete cascade,
      -- The file's index_generation when they were made: others than the file's present ones are never read.
      generation integer not null,
      -- In the order of the document.
      position integer not null,
      subtype text not null,
      -- The headings that it stands under, the highest first.
      breadcrumb text[] not null default '{}',
      page integer,
      text text not null,
      -- Headings and text without accents and capitals, as searches compare them.
      folded text not null,
      -- Of the text, which quotas bound.
      bytes integer not null,
      -- The words of folded, and the bot's id, so that the index serves each bot alone.
      terms tsvector not null,
      unique (file_id, generation, position)
    );
    create index passages_by_bot on passages (bot_id) include (bytes);
    create index passages_by_terms on passages using gin (terms);
    -- Trigrams find misspelt words. Without pg_trgm, searches find whole words only (docs/decisions/0045).
    do $block$ begin
      if to_regproc('word_similarity') is not null then
        create index passages_by_trigrams on passages using gin (folded gin_trgm_ops);
      end if;
    end $block$;

    -- How often the indexing of one index_generation has begun.
    alter table files
      add column index_attempts integer not null default 0,
      add column index_attempted integer;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table passages; alter table files drop column index_attempts, drop column index_attempted;')
}

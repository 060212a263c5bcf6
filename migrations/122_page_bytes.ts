import type { Knex } from 'knex'

/**
 * For pages of lists, which end after a number of bytes. The sum stops at its bound: the values of the rows after it are not
 * read, while a sum of all rows would read and decompress each of them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function add_page_bytes(bytes bigint, value jsonb, max_bytes bigint) returns bigint
      language plpgsql immutable strict parallel safe as $function$
      begin
        return case when bytes > max_bytes then bytes else bytes + octet_length(value::text) end;
      end $function$;

    create aggregate page_bytes(value jsonb, max_bytes bigint) (
      sfunc = add_page_bytes, stype = bigint, initcond = '0', parallel = safe
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop aggregate page_bytes(jsonb, bigint); drop function add_page_bytes(bigint, jsonb, bigint)')
}

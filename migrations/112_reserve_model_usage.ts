import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Reserves the usage of a call of language models, in one round trip; nothing, when a budget is used up.
    create function reserve_model_usage(
      reservation_id text, for_bot text, this_day date, this_month date, more_tokens bigint, more_cost numeric,
      until timestamptz, operator_budget jsonb, out owners text[], out exceeded jsonb
    ) language plpgsql as $function$
      declare
        spent record;
      begin
        -- A crash of the server may lose the counts of its last moment.
        perform set_config('synchronous_commit', 'off', true);
        select array[id, workspace_id] into owners from bots where id = for_bot;
        insert into model_spending (owner_id, period, start, bot_id, workspace_id, tokens, cost)
        select owner_id, period, start, bot_id, workspace_id, 0, 0
        from (values (owners[1], owners[1], null), (owners[2], null, owners[2])) as owner (owner_id, bot_id, workspace_id)
        cross join (values ('day', this_day), ('month', this_month)) as present (period, start)
        where owner_id is not null
        order by bot_id nulls last, period
        on conflict do nothing;

        for spent in
          select spending.bot_id, period, tokens, cost, limits, unit, limit_of, used
          from (
            select * from model_spending
            where owner_id = any(owners) and (period, start) in (('day', this_day), ('month', this_month))
            order by bot_id nulls last, period for update
          ) spending
          left join model_budgets using (owner_id)
          cross join lateral (values ('tokens', 'Tokens', tokens::numeric), ('dollars', 'Dollars', cost)) as amount (unit, suffix, used)
          cross join lateral (
            select least(
              (limits ->> (period || suffix))::numeric,
              case when spending.bot_id is null then (operator_budget ->> (period || suffix))::numeric end
            ) as limit_of
          ) bound
          order by spending.bot_id nulls last, period, unit desc
        loop
          if spent.used >= spent.limit_of then
            exceeded = jsonb_build_object(
              'owner', case when spent.bot_id is null then 'workspace' else 'bot' end,
              'period', spent.period, 'unit', spent.unit, 'spent', spent.used, 'limit', spent.limit_of
            );
            return;
          end if;
        end loop;

        update model_spending set tokens = tokens + more_tokens, cost = cost + more_cost
        where owner_id = any(owners) and (period, start) in (('day', this_day), ('month', this_month));
        insert into model_reservations (id, bot_id, owners, day, month, tokens, cost, expires_at)
        select reservation_id, for_bot, owners, this_day, this_month, more_tokens, more_cost, until where owners is not null;
      end $function$;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function reserve_model_usage')
}

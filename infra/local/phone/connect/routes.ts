/** The routes of the wizard that connects a chat platform. */
import * as v from 'valibot';
import { freshJson, noContent, parseJson } from '../../simulators/http.ts';
import { check, fields, filledText, oneOf, phone, text } from '../../simulators/schemas.ts';
import type { Routes } from '../../simulators/server.ts';
import type { Wizard } from './wizard.ts';

const newAccount = fields({ name: v.pipe(filledText, v.trim(), v.nonEmpty('must not be empty')), bot_number: phone });

const beginning = fields({
  platform: oneOf('rapidpro', 'turn', 'webhook'),
  /** For an account whose bot has no number. */
  bot_number: v.exactOptional(phone),
});

const checking = fields({ settings: v.record(text, text, 'must be an object of texts') });

export const addConnectRoutes = (routes: Routes, wizard: Wizard): void => {
  routes.get('/view/accounts', async () => freshJson(await wizard.accounts()));
  routes.get('/view/connections/:account', async ({ req }) => freshJson(await wizard.view(req.param('account'))));
  routes.post('/accounts', async ({ req }) => {
    const { name, bot_number } = check(newAccount, parseJson(await req.text()));
    return Response.json(await wizard.createAccount(name, bot_number), { status: 201 });
  });
  routes.put('/connections/:account', async ({ req }) => {
    const { platform, bot_number } = check(beginning, parseJson(await req.text()));
    return freshJson(await wizard.begin(req.param('account'), platform, bot_number));
  });
  routes.post('/connections/:account/simulation', async ({ req }) =>
    freshJson(await wizard.simulate(req.param('account'))),
  );
  routes.post('/connections/:account/checks', async ({ req }) => {
    const { settings } = check(checking, parseJson(await req.text()));
    return freshJson(await wizard.check(req.param('account'), settings));
  });
  routes.delete('/connections/:account', ({ req }) => {
    wizard.end(req.param('account'));
    return noContent();
  });
};

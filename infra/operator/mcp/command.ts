/** `operator mcp`: the MCP server over stdin and stdout, for a client on this machine. */
import { once } from 'node:events';
import type { Command } from 'commander';
import { noteChanges } from '../history/record.ts';
import { findStack } from '../local-stack/stack-file.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { examples } from '../usage.ts';

export const addMcpCommand = (program: Command): void => {
  program
    .command('mcp')
    .description(
      'Serves the API as tools of an MCP server over stdin and stdout, until the client ends it. A client such as an editor starts it. Tools call the API with the token in the variable TOKEN, by default that of the demo account of the local stack.',
    )
    .addHelpText('after', examples('mcp', 'mcp --stack business-api-staging'))
    .action(async () => {
      const { hosts } = deployment();
      if (hosts === undefined)
        throw new UserError('A table has no API: name its stack with --stack instead of --table.');
      noteChanges('Serves tools that send messages.');
      const client = { url: hosts.base, authorization: `Bearer ${await tokenOfClient()}` };
      // They take half a second to load.
      const [{ serveTools, readPermissions }, { StdioServerTransport }] = await Promise.all([
        import('../../../shared/mcp/server.ts'),
        import('@modelcontextprotocol/sdk/server/stdio.js'),
      ]);
      const ended = once(process.stdin, 'end');
      await serveTools({ ...client, permissions: () => readPermissions(client) }).connect(new StdioServerTransport());
      await ended;
    });
};

/** @throws UserError — the variable is not set, and there is no demo account */
const tokenOfClient = async (): Promise<string> => {
  const token = process.env.TOKEN || (deployment().runs === 'here' ? (await findStack())?.token : undefined);
  if (token !== undefined) return token;
  throw new UserError('Set the variable TOKEN to the token with which tools call the API.');
};

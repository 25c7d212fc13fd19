/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * completion.c - what bash completes, from the tables of commands and options
 *
 * The script has the words; the names of resources are asked for when somebody
 * presses the key, with little patience.
 */
#include <stdio.h>
#include <string.h>

#include "help.h"

/* Everything but the words: once, so that the script stays short. */
static const char head[] =
    "# bash completion for ringfence; made from its own tables\n"
    "\n"
    "_ringfence_resources() {\n"
    "    ringfence list --timeout 300ms --json 2>/dev/null </dev/null |\n"
    "        grep -o '\"resource\":\"[^\"\\\\]*\"' | cut -d'\"' -f4\n"
    "}\n"
    "\n"
    "# Those of the lines that go on as the word does.  Nothing of a name is "
    "ever\n"
    "# expanded: it is other people's.  Where bash breaks words at colons, "
    "only\n"
    "# what follows the last one is to be put in.\n"
    "_ringfence_choose() {\n"
    "    local word=$1 cut='' choice\n"
    "    [[ $word != *:* || $COMP_WORDBREAKS != *:* ]] || "
    "cut=${word%\"${word##*:}\"}\n"
    "    while IFS= read -r choice; do\n"
    "        [[ $choice == \"$word\"* ]] || continue\n"
    "        printf -v choice %q \"$choice\"\n"
    "        COMPREPLY+=(\"${choice#\"$cut\"}\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# The word that is being typed, with the colons that bash cut it at.\n"
    "_ringfence_word() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT}\n"
    "    word=${line##*[[:space:]]}\n"
    "}\n"
    "\n";

static const char middle[] =
    "_ringfence() {\n"
    "    local word options values resources i\n"
    "    COMPREPLY=()\n"
    "    _ringfence_word\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        _ringfence_choose \"$word\" <<<\"$_ringfence_commands\"\n"
    "        return\n"
    "    fi\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [ \"${COMP_WORDS[i]}\" = -- ] || continue\n"
    "        if [ $((i + 1)) = \"$COMP_CWORD\" ]; then\n"
    "            mapfile -t COMPREPLY < <(compgen -c -- \"$word\")\n"
    "        else\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "        fi\n"
    "        return\n"
    "    done\n"
    "    case ${COMP_WORDS[1]} in\n";

static const char tail[] =
    "    *) return ;;\n"
    "    esac\n"
    "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n"
    "    --config)\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "        return ;;\n"
    "    --*)\n"
    "        [[ \" $values \" != *\" ${COMP_WORDS[COMP_CWORD - 1]} \"* ]] || "
    "return 0 ;;\n"
    "    esac\n"
    "    case $word in\n"
    "    -*) _ringfence_choose \"$word\" <<<\"${options// /$'\\n'}\" ;;\n"
    "    *) [ -z \"$resources\" ] || _ringfence_choose \"$word\" < "
    "<(_ringfence_resources) ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _ringfence ringfence\n";

/* The command's options, or only those that a value follows. */
static void put_options(const cli_command *command, int with_value)
{
    const char *before = "";

    for (const cli_option_id *id = command->options; *id != OPT_END; id++) {
        const cli_option *option = &cli_options[*id];

        if (with_value && option->argument == NULL)
            continue;
        (void)printf("%s--%s", before, option->name);
        before = " ";
    }
}

void cli_completion(void)
{
    (void)fputs(head, stdout);
    (void)fputs("_ringfence_commands='", stdout);
    for (int i = 0; cli_commands[i] != NULL; i++)
        (void)printf("%s\n", cli_commands[i]->name);
    (void)fputs("--help\n--version'\n\n", stdout);
    (void)fputs(middle, stdout);
    for (int i = 0; cli_commands[i] != NULL; i++) {
        const cli_command *command = cli_commands[i];

        (void)printf("    %s)\n        options='", command->name);
        put_options(command, 0);
        (void)fputs("'\n        values='", stdout);
        put_options(command, 1);
        (void)printf("'\n        resources=%s ;;\n",
                     strstr(command->operands, "RESOURCE") != NULL ? "yes"
                                                                   : "");
    }
    (void)fputs(tail, stdout);
}

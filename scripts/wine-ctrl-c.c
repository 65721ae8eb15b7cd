/* Runs a program in a console of its own and presses Ctrl-C there, which Wine does not pass on from a terminal of
 * Linux. A part of wine-check.sh.
 *
 *   ctrl-c.exe MILLISECONDS TIMES PROGRAM ARGUMENTS...
 *
 * The key is pressed TIMES times, MILLISECONDS apart. The exit code is the program's. */
#include <windows.h>
#include <stdio.h>
#include <wchar.h>

int wmain(int count, wchar_t **words) {
	static wchar_t line[32768];
	for (int at = 3; at < count; at++) {
		wcscat(line, L"\"");
		wcscat(line, words[at]);
		wcscat(line, L"\" ");
	}
	STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
	start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
	start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
	start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
	FreeConsole();
	PROCESS_INFORMATION process;
	if (!AllocConsole() || !CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
		fwprintf(stderr, L"cannot start %ls: %lu\n", line, GetLastError());
		return 101;
	}
	/* Only after the program was started: it would inherit this. */
	SetConsoleCtrlHandler(NULL, TRUE);
	for (int times = _wtoi(words[2]); times > 0; times--) {
		Sleep(_wtoi(words[1]));
		if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) fwprintf(stderr, L"no event: %lu\n", GetLastError());
	}
	DWORD code = 102;
	WaitForSingleObject(process.hProcess, 60000);
	GetExitCodeProcess(process.hProcess, &code);
	return (int)code;
}

// A customer's program with the client of oapi-codegen. Prints what it got, as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"time"

	"program/api"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func expect(status int, response *http.Response, body []byte) {
	if response.StatusCode != status {
		fmt.Fprintln(os.Stderr, response.Status, string(body))
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	panelist := os.Getenv("PANELIST")
	withToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client := must(api.NewClientWithResponses(os.Getenv("BASE_URL"), api.WithRequestEditorFn(withToken)))

	var to api.Recipients
	must(0, to.FromPhoneNumber(panelist))
	var message api.Message
	must(0, message.FromTextMessage(api.TextMessage{To: to, Text: api.MessageText{Body: "Good morning from Go!"}}))
	sent := must(client.SendMessageWithResponse(ctx, nil, message))
	expect(200, sent.HTTPResponse, sent.Body)
	accepted := must(sent.JSON200.AsAcceptedMessage())

	created := must(client.CreateProfilerWithResponse(ctx, nil, api.NewProfiler{
		Question: "What do you drink?", Options: []string{"Tea", "Coffee"},
	}))
	expect(200, created.HTTPResponse, created.Body)
	profiler := created.JSON200
	answered := must(client.AnswerProfilerWithResponse(ctx, api.Answer{
		ProfilerId: profiler.ProfilerId.String(), OptionId: profiler.Options["tea"], PhoneNumber: panelist,
	}))
	expect(204, answered.HTTPResponse, answered.Body)

	logged := false
	for attempt := 0; attempt < 20 && !logged; attempt++ {
		logs := must(client.ListLogsWithResponse(ctx, &api.ListLogsParams{Contact: &panelist}))
		if logs.JSON200 != nil {
			for _, entry := range *logs.JSON200 {
				logged = logged || (entry.Id == accepted.Id && entry.State == "sent")
			}
		}
		if !logged {
			time.Sleep(500 * time.Millisecond)
		}
	}

	started := must(client.StartUserDataRequestWithResponse(ctx, panelist, nil, api.NewUserDataRequest{
		Reason: "To support your phone",
		Data:   []api.RequestedProperty{{Property: "device_platform"}},
	}))
	expect(200, started.HTTPResponse, started.Body)
	seconds := 5
	fetched := must(client.FetchUserDataWithResponse(
		ctx, started.JSON200.RequestId.String(), &api.FetchUserDataParams{LongPoll: &seconds},
	))
	expect(200, fetched.HTTPResponse, fetched.Body)
	granted := must(fetched.JSON200.Results["device_platform"].AsGrantedResult())

	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	file := must(parts.CreateFormFile("file", "picture.png"))
	must(file.Write(must(os.ReadFile(os.Getenv("PICTURE")))))
	must(0, parts.Close())
	uploaded := must(client.UploadImageWithBodyWithResponse(ctx, parts.FormDataContentType(), &form))
	expect(200, uploaded.HTTPResponse, uploaded.Body)

	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"message":  accepted.Id,
		"profiler": profiler.ProfilerId,
		"logged":   logged,
		"request":  started.JSON200.RequestId,
		"platform": granted.Value,
		"picture":  uploaded.JSON200.Url,
	}))
}

// Prints the state of each job.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"

	"program/api"
)

// Repeats a request that came too soon, after the seconds in Retry-After. A spent allowance lasts until the next day.
type patient struct{}

func (p patient) Do(request *http.Request) (*http.Response, error) {
	for {
		response, err := http.DefaultClient.Do(request)
		if err != nil || (response.StatusCode != 429 && response.StatusCode != 503) {
			return response, err
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		if seconds > 60 {
			return response, nil
		}
		response.Body.Close()
		time.Sleep(time.Duration(max(1, seconds)) * time.Second)
		if request.GetBody != nil {
			request.Body, _ = request.GetBody()
		}
	}
}

var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// The cursor of the next page, from the header Link; nil on the last one.
func nextOf(response *http.Response) *string {
	found := next.FindStringSubmatch(response.Header.Get("Link"))
	if found == nil {
		return nil
	}
	link, err := url.Parse(found[1])
	if err != nil {
		log.Fatal(err)
	}
	cursor := link.Query().Get("cursor")
	return &cursor
}

func main() {
	ctx := context.Background()
	withToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := api.NewClientWithResponses(
		os.Getenv("BASE_URL"), api.WithHTTPClient(patient{}), api.WithRequestEditorFn(withToken),
	)
	if err != nil {
		log.Fatal(err)
	}
	var params api.ListRecentJobsParams
	for {
		page, err := client.ListRecentJobsWithResponse(ctx, &params)
		if err != nil {
			log.Fatal(err)
		}
		if page.StatusCode() >= 300 {
			log.Fatal(string(page.Body))
		}
		var jobs []api.ListedJob
		if page.JSON200 != nil {
			jobs = *page.JSON200
		}
		for _, listed := range jobs {
			job, err := client.ReadJobWithResponse(ctx, listed.JobId.String())
			if err != nil {
				log.Fatal(err)
			}
			problem := job.ApplicationproblemJSON404
			switch {
			case job.JSON200 != nil:
				fmt.Println(listed.JobId, job.JSON200.Status)
			case problem != nil && problem.Code == api.ProblemCodeJobNotFound:
				fmt.Println(listed.JobId, "expired")
			default:
				log.Fatal(string(job.Body))
			}
		}
		params.Cursor = nextOf(page.HTTPResponse)
		if params.Cursor == nil {
			return
		}
	}
}
